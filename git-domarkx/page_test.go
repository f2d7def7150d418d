package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/clidoc"
	gocmp "github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the generated files instead of comparing them")

func model(t *testing.T) *kong.Application {
	t.Helper()
	parser, err := newParser(&commandLine{}, "")
	if err != nil {
		t.Fatal(err)
	}
	return parser.Model
}

// TestGenerated compares every file that is generated from the command model with the
// model: help, manual pages and documentation; and lists of agents with their table.
func TestGenerated(t *testing.T) {
	m := model(t)
	want := map[string]string{}
	for _, p := range allPages(m.Node) {
		want["man/"+p.ManName()] = p.Man()
		want["doc/"+p.MarkdownName()] = p.Markdown()
		name := clidoc.Dashed(p.Verb)
		if name == "" {
			name = "git-domarkx"
		}
		want["testdata/help/"+name+".txt"] = p.Text()
		want["testdata/help/"+name+"-h.txt"] = p.Screen()
	}
	want["doc/json.md"] = clidoc.FieldPage(allPages(m.Node))
	maps.Copy(want, derivedLists(t))
	for path, text := range want {
		if *update {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Error(err)
		} else if diff := gocmp.Diff(text, string(got)); diff != "" {
			t.Errorf("%s is not current; run make generate (-model +file):\n%s", path, diff)
		}
	}
	for _, dir := range []string{"man", "doc", "testdata/help"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			path := dir + "/" + e.Name()
			if _, ok := want[path]; ok {
				continue
			}
			if *update {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else {
				t.Errorf("%s belongs to no command", path)
			}
		}
	}
}

// derivedLists returns documents whose lists of agents are made from the table of agents and from the codecs.
func derivedLists(t *testing.T) map[string]string {
	var both, recorded, formats []string
	for _, c := range transcriptCodecs() {
		a, ok := agents.ByName(c.Name)
		switch name := cmp.Or(c.Program, c.Name); {
		case !ok:
			t.Errorf("the agent of the format %s is not in the table of package agents", c.Name)
		case a.CanResume():
			both = append(both, name)
		default:
			recorded = append(recorded, name)
		}
		formats = append(formats, fmt.Sprintf("[%s](../%s/SPEC.md)", c.Name, strings.ReplaceAll(c.Name, "-", "")))
	}
	documents := map[string]string{}
	set := func(path, begin, end string, names []string) {
		text, ok := documents[path]
		if !ok {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			text = string(data)
		}
		head, rest, found := strings.Cut(text, "\n"+begin)
		_, tail, ends := strings.Cut(rest, end+"\n")
		if !found || !ends {
			t.Fatalf("%s has no line %q", path, begin)
		}
		documents[path] = head + "\n" + begin + strings.Join(names, ", ") + end + "\n" + tail
	}
	set("../README.md", "| Agents: import, record, resume | ", " |", both)
	set("../README.md", "| Agents: import, record | ", " |", recorded)
	set("../format/transcript/README.md", "The formats: ", ".", formats)
	return documents
}

func TestPagesAreComplete(t *testing.T) {
	texts := map[string]bool{}
	for _, p := range allPages(model(t).Node) {
		texts[strings.ReplaceAll(cmp.Or(p.Verb, "git-domarkx"), " ", "_")+".md"] = true
		if len(p.Body) == 0 {
			t.Errorf("%s has no help text", p.Name)
		}
		if n := strings.Count(p.Screen(), "\n"); n > 66 {
			t.Errorf("%s -h has %d lines, more than a screen", p.Name, n)
		}
		text := p.Text()
		if !strings.Contains(text, "\nEXIT STATUS\n") {
			t.Errorf("%s says nothing about its exit status", p.Name)
		}
		if strings.Contains(text, "{{") {
			t.Errorf("%s has a mark for which the program has no text", p.Name)
		}
		for line := range strings.Lines(text) {
			if len([]rune(line)) > clidoc.TextWidth+30 {
				t.Errorf("%s: line too wide: %q", p.Name, line)
			}
		}
		for _, it := range append(p.Arguments, p.Options...) {
			if it.Text == "" {
				t.Errorf("%s: %s has no help", p.Name, it.Term)
			}
		}
	}
	files, err := helpPages.ReadDir("help")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !texts[f.Name()] {
			t.Errorf("help/%s is the text of no command", f.Name())
		}
	}
}
