package markdown_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
)

func isUTF8(s string) bool { return utf8.ValidString(s) }

func FuzzDecode(f *testing.F) {
	golden, err := filepath.Glob("testdata/golden/*.md")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range golden {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, s := range nasty {
		f.Add([]byte("---\na: 1\n---\n" + s + "\n\n## user\r\n" + s + "\n## Assistant ##\n\n> " + s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checkBytes(t, data)
		sameWhole(t, data, included)
	})
}

// FuzzYAML: YAML that reads, and is written again, is the same value.
func FuzzYAML(f *testing.F) {
	for _, s := range append(nasty, "a: &a [1, {b: c}]\nd: *a\n<<: {x: 0x1F}", "a: |\n  b\n", "? a\n: b", "a: \"\\u2028\\0\"", "{a: [b, 'c', \"d\"]}", "a: 1e400\nb: .5") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, yaml string) {
		json, err := userMetadata(yaml)
		if err != nil || strings.Contains(yaml, "\n---") || strings.Contains(yaml, "\n...") {
			return
		}
		v, err := jsonvalue.ParseValue([]byte(json))
		if err != nil {
			t.Fatal(err)
		}
		h := domarkx.NewHeader()
		h.UserMetadata = &v
		front := string(markdown.RenderHeader(h))
		if again, ok := strings.CutPrefix(front, "---\n"); ok {
			if got, err := userMetadata(strings.TrimSuffix(again, "---\n")); err != nil || got != json {
				t.Fatalf("%q is %s, written as %q, which is %s, %v", yaml, json, front, got, err)
			}
		}
	})
}
