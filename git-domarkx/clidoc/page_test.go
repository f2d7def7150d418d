package clidoc_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing them")

// TestForms compares the forms of a page that has everything with golden files.
func TestForms(t *testing.T) {
	p := page(t, "copy")
	for name, got := range map[string]string{
		"copy-h.txt": p.Screen(), "copy.txt": p.Text(), p.ManName(): p.Man(), p.MarkdownName(): p.Markdown(),
		"json.md": clidoc.FieldPage([]*clidoc.Page{p, page(t, "box")}),
	} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is now\n%s", name, got)
		}
	}
}

// TestPages checks what pages have and lack, in all forms.
func TestPages(t *testing.T) {
	for name, test := range map[string]struct {
		words      string
		usage      string
		has, lacks []string
	}{
		"program": {"", "git domarkx [-q] [--color=WHEN] [--no-progress] COMMAND [ARGUMENT...]",
			[]string{"Explain a command", "or some input was bad"}, []string{"Open a box", "internal", "Not for users"}},
		"group":      {"box", "git domarkx box COMMAND [ARGUMENT...]", []string{"Open a box", "Close a box"}, []string{"Copy files", "was bad"}},
		"subcommand": {"box open", "git domarkx box open WS [RESOURCE] [TOOL]", []string{"A part of it", "Say less"}, []string{"Close a box", "was bad", "bytes"}},
		"many":       {"restore", "git domarkx restore NAME...", []string{"What to restore"}, []string{"was bad"}},
		"exits":      {"copy", "git domarkx copy [--json] --team TEAM [--format F] [-o PATH] [--into DIR] [--links[=WS]] PATH [NAME...]", []string{"A file was missing", "The size"}, []string{"Not for users", "was bad"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := page(t, strings.Fields(test.words)...)
			if p.Usage != test.usage || p.Verb != test.words || p.Name != strings.TrimSpace("git domarkx "+test.words) {
				t.Errorf("got %q, %q: %s", p.Name, p.Verb, p.Usage)
			}
			for form, text := range map[string]string{"help": p.Text(), "manual": p.Man(), "Markdown": p.Markdown()} {
				text = strings.ToLower(strings.ReplaceAll(text, `\-`, "-"))
				for _, want := range test.has {
					if !strings.Contains(text, strings.ToLower(want)) {
						t.Errorf("the %s lacks %q:\n%s", form, want, text)
					}
				}
				for _, other := range test.lacks {
					if strings.Contains(text, strings.ToLower(other)) {
						t.Errorf("the %s has %q:\n%s", form, other, text)
					}
				}
			}
		})
	}
	for words, want := range map[string]string{
		"": "git domarkx help COMMAND", "box": "git domarkx help box COMMAND", "box open": "git domarkx help box open'",
	} {
		if got := page(t, strings.Fields(words)...).Screen(); !strings.Contains(got, want) {
			t.Errorf("the usage of %q does not refer to %q:\n%s", words, want, got)
		}
	}
}

// described is a command with a help text.
type described struct{ text string }

func (d described) Help() string { return d.text }

func bodyOf(t *testing.T, text string) *clidoc.Page {
	t.Helper()
	parser, err := kong.New(&struct{}{}, kong.NoDefaultHelp(), kong.DynamicCommand("x", "Do it.", "", &described{text}))
	if err != nil {
		t.Fatal(err)
	}
	return clidoc.New(parser.Model.Children[0], fields)
}

// TestBodies checks how the small Markdown of help texts becomes text, a manual page and Markdown.
func TestBodies(t *testing.T) {
	for name, test := range map[string]struct{ text, help, manual, markdown string }{
		"one paragraph":                    {"\nOne\ntwo.\n", "DESCRIPTION\n    One two.\n", ".SH DESCRIPTION\nOne two.\n", "\nOne two.\n"},
		"paragraphs":                       {"One.\n\nTwo.", "    One.\n\n    Two.\n", "One.\n.PP\nTwo.\n", "\nOne.\n\nTwo.\n"},
		"heading first":                    {"## First\n\nText.", "\nFIRST\n    Text.\n", "\n.SH FIRST\nText.\n", "\n## First\n\nText.\n"},
		"list":                             {"Text:\n- a\n- b\n  c\n\nEnd.", "    Text:\n\n    * a\n    * b c\n\n    End.\n", ".IP \\(bu 2\na\n.IP \\(bu 2\nb c\n.PP\nEnd.\n", "Text:\n\n- a\n- b c\n\nEnd.\n"},
		"literal lines":                    {"    a\n      b\n\nText.", "        a\n          b\n\n    Text.\n", ".RS 4\n.nf\na\n  b\n.fi\n.RE\n.PP\nText.\n", "```\na\n  b\n```\n\nText.\n"},
		"literal, then text without a gap": {"    a\nText.", "        a\n\n    Text.\n", ".fi\n.RE\n.PP\nText.\n", "```\n\nText.\n"},
		"two literals":                     {"    a\n\n    b", "        a\n        b\n", "a\nb\n", "```\na\nb\n```\n"},
		"code":                             {"See `git -x`.", "    See git -x.\n", "See \\fBgit \\-x\\fR\\&.\n", "See `git -x`.\n"},
		"requests of troff":                {".SH X\n\n    .de Y\n    'Z", "    .SH X\n", "\\&.SH X\n.PP\n.RS 4\n.nf\n\\&.de Y\n\\(aqZ\n", ".SH X\n"},
		"escapes of troff":                 {`\fB ~ ^ → … -`, `    \fB ~ ^ → … -`, `\efB \(ti \(ha -> ... \-`, `\fB ~ ^ → … -`},
		"nothing":                          {"\n", "NAME\n    git domarkx x - do it\n\nUSAGE\n    git domarkx x\n\nEXIT STATUS\n", ".fi\n.SH EXIT STATUS\n", "```\n\n## Exit status\n"},
	} {
		t.Run(name, func(t *testing.T) {
			p := bodyOf(t, test.text)
			for form, check := range map[string]struct{ got, want string }{"help": {p.Text(), test.help}, "manual": {p.Man(), test.manual}, "Markdown": {p.Markdown(), test.markdown}} {
				if !strings.Contains(check.got, check.want) {
					t.Errorf("the %s has no %q:\n%s", form, check.want, check.got)
				}
			}
		})
	}
}

// TestWidth checks that no line of a help text is wider than a terminal, unless a single word is.
func TestWidth(t *testing.T) {
	word := strings.Repeat("ü", 90)
	p := bodyOf(t, strings.Repeat("wörter die man umbricht ", 30)+"\n\n- "+strings.Repeat("grüße ", 40)+"\n\n"+word)
	for line := range strings.Lines(p.Text()) {
		line = strings.TrimSuffix(line, "\n")
		if n := len([]rune(line)); n > clidoc.TextWidth && strings.TrimSpace(line) != word {
			t.Errorf("%d columns: %q", n, line)
		}
		if strings.HasSuffix(line, " ") {
			t.Errorf("blanks at the end of %q", line)
		}
	}
}

// TestLongUsage checks that a long usage line is folded between its parts, and loses nothing.
func TestLongUsage(t *testing.T) {
	p := page(t, "copy")
	for range 6 {
		p.Usage += " [--another-option WITH SOME VALUE]"
	}
	folded, _, _ := strings.Cut(strings.TrimPrefix(p.Screen(), "usage: "), "\n\n")
	if strings.Join(strings.Fields(folded), " ") != p.Usage {
		t.Errorf("the usage is\n%s", folded)
	}
	lines := strings.Split(folded, "\n")
	for i, line := range lines {
		if len(line) > clidoc.TextWidth || strings.Count(line, "[") != strings.Count(line, "]") || i > 0 != strings.HasPrefix(line, "           ") {
			t.Errorf("line %d: %q", i, line)
		}
	}
	if len(lines) < 4 {
		t.Errorf("%d lines", len(lines))
	}
}
