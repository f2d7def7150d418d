package redact_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
)

// redacted returns a repository with the redacted session "s", in which secret has the number 1, and the newest snapshot.
func redacted(t *testing.T) (p peer, tip string) {
	t.Helper()
	p = newPeer(enginetest.New(t))
	p.Appended("s", "Use "+secret+".")
	p.redact(redact.Request{Name: "s"})
	return p, p.Tip("s").ID
}

// TestAdditions redacts additions to sessions that were redacted, and not to others.
func TestAdditions(t *testing.T) {
	t.Parallel()
	p := newPeer(enginetest.New(t))
	p.Appended("s", "Use "+secret+".")
	p.Appended("plain", "Use "+secret+".")
	for _, name := range []string{"s", "plain"} { // nothing is redacted yet
		if d, err := p.redactions.Document(t.Context(), p.Tip(name).ID, false); d != nil || err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	p.redact(redact.Request{Name: "s"})
	later := p.Appended("s", "Nothing else.") // the newest snapshot itself replaces none
	d, err := p.redactions.Document(t.Context(), later.ID, false)
	if err != nil || d == nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"nothing", "nothing"},
		{"again " + secret, "again [REDACTED:github-pat:1]"},
		{"new " + other + ", old " + secret, "new [REDACTED:gitlab-pat:2], old [REDACTED:github-pat:1]"},
		{"the same " + other, "the same [REDACTED:gitlab-pat:2]"},
		{`{"text": "` + secret + `", "n": 1}`, `{"text": "[REDACTED:github-pat:1]", "n": 1}`},
		{"[REDACTED:github-pat:1] stays", "[REDACTED:github-pat:1] stays"},
	} {
		if got := replaced(t, d, tt.text); got != tt.want {
			t.Errorf("%q becomes %q, want %q", tt.text, got, tt.want)
		}
	}
	// Another process has the same numbers, once something was added.
	p.Appended("s", "And "+other+", too.")
	next := reopened(t, p)
	if d, err = next.redactions.Document(t.Context(), next.Tip("s").ID, false); err != nil {
		t.Fatal(err)
	}
	if got := replaced(t, d, other); got != "[REDACTED:gitlab-pat:2]" {
		t.Errorf("another process: %q", got)
	}
}

// replaced returns a text without its secrets.
func replaced(t *testing.T, d transaction.Redaction, text string) string {
	t.Helper()
	now, err := d.Bytes(t.Context(), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return string(now)
}

// TestDocument redacts documents for new sessions, and for sessions with and without a redaction.
func TestDocument(t *testing.T) {
	t.Parallel()
	p, tip := redacted(t)
	plain := p.Appended("plain", "Nothing.").ID
	for name, tt := range map[string]struct {
		tip    string
		always bool
		want   string // "" for none
	}{
		"redacted":         {tip, false, "[REDACTED:gitlab-pat:2] [REDACTED:github-pat:1]"},
		"redacted, always": {tip, true, "[REDACTED:gitlab-pat:2] [REDACTED:github-pat:1]"},
		"plain":            {plain, false, ""},
		"plain, always":    {plain, true, "[REDACTED:gitlab-pat:1] [REDACTED:github-pat:2]"},
		"new":              {"", false, ""},
		"new, always":      {"", true, "[REDACTED:gitlab-pat:1] [REDACTED:github-pat:2]"},
	} {
		d, err := p.redactions.Document(t.Context(), tt.tip, tt.always)
		if err != nil || (d == nil) != (tt.want == "") {
			t.Errorf("%s: %v, %v", name, d, err)
			continue
		}
		if d == nil {
			continue
		}
		text := other + " " + secret
		if got := replaced(t, d, text); got != tt.want || d.Secrets() != 2 {
			t.Errorf("%s: %q, %d secrets, want %q", name, got, d.Secrets(), tt.want)
		}
		if got := replaced(t, d, "\x00"+secret); got != "\x00"+secret {
			t.Errorf("%s: binary content changed: %q", name, got)
		}
		var b bytes.Buffer
		if err := d.Copy(t.Context(), &b, strings.NewReader(text+"\n"+text), int64(2*len(text)+1)); err != nil || b.String() != tt.want+"\n"+tt.want {
			t.Errorf("%s: copied %q, %v", name, b.String(), err)
		}
		broken := errors.New("broken")
		if err := d.Copy(t.Context(), writer{broken}, strings.NewReader("x"), 1); !errors.Is(err, broken) {
			t.Errorf("%s: written with %v", name, err)
		}
	}
	if _, err := p.redactions.Document(t.Context(), strings.Repeat("0", 40), true); err == nil {
		t.Error("a snapshot that does not exist: no error")
	}
}

// A writer fails.
type writer struct{ err error }

func (w writer) Write([]byte) (int, error) { return 0, w.err }

// TestLearn adopts the numbers in the stored beginning of a document, up to where that differs in anything else.
func TestLearn(t *testing.T) {
	t.Parallel()
	p, tip := redacted(t)
	const one, seven, nine = "[REDACTED:github-pat:1]", "[REDACTED:gitlab-pat:7]", "[REDACTED:gitlab-pat:9]"
	third := token(3)
	for name, tt := range map[string]struct{ stored, document, want string }{
		"nothing":                     {"", other, "[REDACTED:gitlab-pat:2]"},
		"a secret":                    {"use " + seven, "use " + other + " and " + secret, "use " + seven + " and " + one},
		"the same secret twice":       {seven + " " + seven, other + " " + other, seven + " " + seven},
		"another text before":         {"never " + seven, "use " + other, "use [REDACTED:gitlab-pat:2]"},
		"a text that is no secret":    {"pay " + seven, "pay Alice", "pay Alice"},
		"another number later":        {seven + " " + nine, other + " " + other, seven + " " + seven},
		"after the last one":          {"a " + seven, "a " + other + " " + third, "a " + seven + " [REDACTED:github-pat:8]"},
		"a placeholder of the author": {"say " + one + " " + seven, "say " + one + " " + other, "say " + one + " " + seven},
		"in JSON":                     {`{"a": "` + seven + `"}`, `{"a": "` + other + `"}`, `{"a": "` + seven + `"}`},
	} {
		d, err := p.redactions.Document(t.Context(), tip, false)
		if err != nil {
			t.Fatal(err)
		}
		d.Learn([]byte(tt.stored), []byte(tt.document))
		if got := replaced(t, d, tt.document); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// TestRemember stores numbers for the next process, by history: another session does not learn them.
func TestRemember(t *testing.T) {
	t.Parallel()
	p, tip := redacted(t)
	for _, at := range []string{p.Appended("plain", "Nothing.").ID, tip} {
		d, err := p.redactions.Document(t.Context(), at, true)
		if err != nil {
			t.Fatal(err)
		}
		replaced(t, d, other)
		if err := d.Remember(t.Context(), p.Store.Ancestors(t.Context(), at)); err != nil {
			t.Fatal(err)
		}
	}
	next := reopened(t, p)
	for at, want := range map[string]string{tip: "[REDACTED:gitlab-pat:2]", p.Tip("plain").ID: "[REDACTED:gitlab-pat:1]"} {
		d, err := next.redactions.Document(t.Context(), at, true)
		if err != nil {
			t.Fatal(err)
		}
		if got := replaced(t, d, other); got != want {
			t.Errorf("%s", got)
		}
	}
	for _, value := range p.Settings.Values["redacted"] {
		if strings.Contains(value, secret) || strings.Contains(value, other) {
			t.Errorf("the local state has a secret: %s", value)
		}
	}
	p.Settings.Values["redacted"] = append(p.Settings.Values["redacted"], "", "x", "a b c d", tip+" x notaplaceholder")
	if d, err := next.redactions.Document(t.Context(), tip, true); err != nil || replaced(t, d, secret) != "[REDACTED:github-pat:1]" {
		t.Errorf("with damaged values: %v", err)
	}
}

// TestParts divides any text into parts that together are the text, and end at line ends where they can.
func TestParts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ab\n]{0,60}`).Draw(t, "text")
		size := rapid.IntRange(1, 30).Draw(t, "size")
		all, err := redact.Parts(text, size)
		if err != nil || strings.Join(all, "") != text {
			t.Fatalf("%q in %d: %q, %v", text, size, all, err)
		}
		for i, part := range all {
			if len(part) > size || i+1 < len(all) && !strings.HasSuffix(part, "\n") && strings.Contains(part, "\n") {
				t.Errorf("%q in %d: part %d is %q", text, size, i, part)
			}
		}
	})
	d, err := newPeer(enginetest.New(t)).redactions.Document(t.Context(), "", true)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Copy(t.Context(), &bytes.Buffer{}, readerAt{}, 10); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("a document that cannot be read: %v", err)
	}
}

// A readerAt fails.
type readerAt struct{}

func (readerAt) ReadAt([]byte, int64) (int, error) { return 0, iotest.ErrTimeout }
