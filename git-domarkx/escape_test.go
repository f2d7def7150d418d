package main

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestField(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"a\tb\nc\\d\re":            `a\tb\nc\\d\re`,
		"":                         "",
		"\x1b[2J\x00\x7f":          `\x1b[2J\x00\x7f`,
		"\u009b\u202e\u2066\u200f": `\x9b\u202e\u2066\u200f`,
		"not \xff UTF-8":           "not \xff UTF-8",
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
		if strings.ContainsAny(got, "\t\n\r") || strings.ContainsFunc(got, unsafeOnTerminal) {
			t.Fatalf("field(%q) = %q holds a separator", s, got)
		}
		code := regexp.MustCompile(`\\(x[0-9a-f]{2}|u[0-9a-f]{4}|.)`)
		back := code.ReplaceAllStringFunc(got, func(escape string) string {
			switch escape[1] {
			case 'x', 'u':
				n, err := strconv.ParseUint(escape[2:], 16, 16)
				if err != nil {
					t.Fatal(err)
				}
				return string(rune(n))
			}
			return strings.NewReplacer(`\\`, "\\", `\t`, "\t", `\n`, "\n", `\r`, "\r").Replace(escape)
		})
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
