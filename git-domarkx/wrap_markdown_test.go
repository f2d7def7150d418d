package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWrapMarkdown(t *testing.T) {
	code := strings.Repeat("code ", 10)
	for name, test := range map[string]struct{ text, want string }{
		"a paragraph":         {"one two three four five six", "one two three four\nfive six"},
		"its own line ends":   {"one\ntwo\n\nthree", "one\ntwo\n\nthree"},
		"a long word":         {"a " + strings.Repeat("x", 25), "a\nxxxxxxxxxxxxxxxxxxxx\nxxxxx"},
		"wide characters":     {"日本語日本語日本語日本語", "日本語日本語日本語日\n本語"},
		"a list":              {"- one two three four five\n  10. one two three four", "- one two three four\n  five\n  10. one two three\n      four"},
		"a quote":             {"> one two three four five", "> one two three four\n> five"},
		"a list in a quote":   {"> - one two three four five", "> - one two three\n>   four five"},
		"a fence":             {"```go\n" + code + "\n```\none two three four five", "```go\n" + code + "\n```\none two three four\nfive"},
		"a fence in a fence":  {"~~~~\n```\n" + code + "\n~~~\n" + code + "\n~~~~", "~~~~\n```\n" + code + "\n~~~\n" + code + "\n~~~~"},
		"a fence in a list":   {"- ```\n  " + code + "\n  ```", "- ```\n  " + code + "\n  ```"},
		"no fence":            {"```a` one two three four five", "```a` one two three\nfour five"},
		"a fence without end": {"```\n" + code, "```\n" + code},
		"indented code":       {"text\n\n    " + code + "\n    " + code + "\n\n\t" + code, "text\n\n    " + code + "\n    " + code + "\n\n\t" + code},
		"no indented code":    {"text\n    one two three four", "text\n    one two three\n    four"},
		"a paragraph of a list": {"- a\n\n  one two three four five\n\n      " + code + "\n\n    " + code, "- a\n\n  one two three four\n  five\n\n      " + code + "\n\n" +
			"    code code code\n    code code code\n    code code code\n    code"},
		"a tab":      {"a\tb one two three", "a       b one two\nthree"},
		"many marks": {strings.Repeat("> ", 9) + "one two three", "> > > > > > > > >\none two three"},
	} {
		if got := strings.Join(wrapMarkdown(test.text, 20), "\n"); got != test.want {
			t.Errorf("%s: %s", name, cmp.Diff(test.want, got))
		}
	}
}

// TestWrapKeeps checks that no character but spaces and the marks of quotes is lost or added, in long and strange texts.
func TestWrapKeeps(t *testing.T) {
	kept := func(text string) string {
		return strings.NewReplacer(" ", "", "\t", "", "\n", "", ">", "").Replace(text)
	}
	for _, text := range []string{"word ", "x", ">", "> ", "- ", "`", "```\n", "\t", "    ", "1. ", "\u0300", "日", "- > a\n", "\n\n    a b\n"} {
		text = strings.Repeat(text, 1<<18/len(text)) + "end"
		for _, width := range []int{1, 20, 200} {
			if lines := wrapMarkdown(text, width); kept(strings.Join(lines, "")) != kept(text) {
				t.Errorf("%d: %.20q changes", width, text)
			}
		}
	}
}
