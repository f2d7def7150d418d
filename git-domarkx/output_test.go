package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// onTerminal returns an invocation whose output is a file that it treats as a terminal,
// and the file's name.
func onTerminal(t *testing.T, env map[string]string) (*invocation, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "out")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	inv := in(t, env)
	inv.out = newOutput(file)
	inv.out.tty = true
	return inv, path
}

func TestPager(t *testing.T) {
	for name, test := range map[string]struct {
		pager string
		env   map[string]string
		tty   bool
		want  string
	}{
		"pager":              {"sed s/^/paged:/", nil, true, strings.Repeat("paged:line\n", 30)},
		"leaves early":       {"head -n 1", nil, true, "line\n"},
		"cat is no pager":    {"cat", nil, true, strings.Repeat("line\n", 30)},
		"Git has started it": {"sed s/^/paged:/", map[string]string{"GIT_PAGER_IN_USE": "true"}, true, strings.Repeat("line\n", 30)},
		"no terminal":        {"sed s/^/paged:/", nil, false, strings.Repeat("line\n", 30)},
	} {
		t.Run(name, func(t *testing.T) {
			repository(t)
			t.Setenv("GIT_PAGER", test.pager)
			inv, path := onTerminal(t, test.env)
			inv.out.tty = test.tty
			if err := inv.page(); err != nil {
				t.Fatal(err)
			}
			if _, err := inv.out.WriteString(strings.Repeat("line\n", 30)); err != nil {
				t.Fatal(err)
			}
			if err := inv.close(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got %q, expected %q", got, test.want)
			}
		})
	}
}

func TestDocumentsOnATerminal(t *testing.T) {
	inv, path := onTerminal(t, nil)
	w := inv.out.document()
	if _, err := w.Write([]byte("a\x1b[31mb\r\nc\xc3")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := inv.close(); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "a\\x1b[31mb\nc\uFFFD" {
		t.Errorf("got %q", got)
	}
}

func TestDocumentsElsewhereAreExact(t *testing.T) {
	var b bytes.Buffer
	out := newOutput(&b)
	const text = "a\x1b[31mb\r\nc\xc3"
	w := out.document()
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := out.close(); err != nil {
		t.Fatal(err)
	}
	if b.String() != text {
		t.Errorf("got %q, expected %q", b.String(), text)
	}
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := &progress{w: &b, start: time.Now()}
	p.report("importing documents", 1, 10)
	if b.Len() > 0 {
		t.Errorf("within a second it showed %q", b.String())
	}
	p.start = time.Now().Add(-time.Minute)
	p.report("importing documents", 2, 10)
	p.report("rendering sessions", 3, 0)
	p.finish()
	for _, want := range []string{"importing documents", "rendering sessions"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in what it showed: %q", want, b.String())
		}
	}
	in(t, nil).progress().report("nobody looks", 1, 2) // with --quiet there is a nil writer, which must not panic
}
