package main

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestField(t *testing.T) {
	for in, want := range map[string]string{
		"plain":         "plain",
		"a\tb\nc\\d\re": `a\tb\nc\\d\re`,
		"":              "",
	} {
		if got := field(in); got != want {
			t.Errorf("field(%q) = %q, expected %q", in, got, want)
		}
	}
}

// TestFieldKeepsItsPlace checks that the content of a field never changes the number of
// fields in its line.
func TestFieldKeepsItsPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		got := field(s)
		if strings.ContainsAny(got, "\t\n\r") {
			t.Fatalf("field(%q) = %q holds a separator", s, got)
		}
		back := strings.NewReplacer(`\\`, "\\", `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(got)
		if back != s {
			t.Fatalf("field(%q) reads back as %q", s, back)
		}
	})
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[2Jgone":     `\x1b[2Jgone`,
		"\x9b31m":         "\uFFFD31m",
		"\u009b31m":       `\x9b31m`,
		"tab\tand\nline":  "tab\\tand\nline",
		"a\u202Eb\u2066c": `a\u202eb\u2066c`,
		"\x7f\x00":        `\x7f\x00`,
		"grüezi 日本":       "grüezi 日本",
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, expected %q", in, got, want)
		}
	}
	if got := visibleLine("two\nlines"); got != `two\nlines` {
		t.Errorf("visibleLine = %q", got)
	}
}

func TestVisibleWriterDoesNotMindWhereWritesAreCut(t *testing.T) {
	const text = "é\r\nlone \r cr\ttab \x1b]0;title\x07 日本 \xff end\r\n"
	const want = "é\nlone \\r cr\ttab \\x1b]0;title\\x07 日本 \uFFFD end\n"
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		w := &visibleWriter{w: &b}
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "n")
			if _, err := w.Write([]byte(rest[:n])); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Fatalf("got %q, expected %q", b.String(), want)
		}
	})
}
