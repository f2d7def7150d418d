package chat_test

import (
	"path"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat"
)

// TestPlainName names pictures as providers may, who choose these names.
func TestPlainName(t *testing.T) {
	long := strings.Repeat("a", 99)
	for _, c := range []struct{ file, want string }{
		{"cat.png", "cat.png"},
		{"a cat (1).png", "a-cat--1-.png"},
		{"Katze_Äpfel.png", "Katze_-pfel.png"},
		{"out/of/here.png", "here.png"},
		{"../../.git/config", "config"},
		{".gitattributes", "gitattributes"},
		{"...hidden", "hidden"},
		{"[x](javascript:1)", "-x--javascript-1-"},
		{"line\nbreak", "line-break"},
		{"", "picture"},
		{".", "picture"},
		{"..", "picture"},
		{"/", "picture"},
		{"-.-", "picture"},
		{"図.", "picture"},
		{long + ".png", long[3:] + ".png"},
		{"x." + long, long}, // the end of a long name may not begin with a dot either
	} {
		got := chat.PlainName(c.file)
		if got != c.want {
			t.Errorf("%q: got %q, want %q", c.file, got, c.want)
		}
		if len(got) > 100 || strings.HasPrefix(got, ".") || path.Base(got) != got || chat.PlainName(got) != got {
			t.Errorf("%q: %q is not plain", c.file, got)
		}
	}
}
