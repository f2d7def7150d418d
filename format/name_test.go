package format_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
)

// TestFileName: whatever an id is, it is one component of a path on all systems.
func TestFileName(t *testing.T) {
	for id, want := range map[string]string{"a-b_c.d": "a-b_c.d", "a/b\\c:d": "a_b_c_d", "": "_", ".": "_.", "..": "_..", "a\x00\n\x7f": "a___", "\xff": "_"} {
		if got := format.FileName(id); got != want {
			t.Errorf("%q is %q, want %q", id, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		id := rapid.String().Draw(t, "id") + strings.Repeat(rapid.SampledFrom([]string{"x", "ä", "…"}).Draw(t, "end"), rapid.IntRange(0, 300).Draw(t, "times"))
		name := format.FileName(id)
		if name == "" || name == "." || name == ".." || len(name) > 201 || !utf8.ValidString(name) || path.Base(name) != name || strings.ContainsAny(name, "/\\:\x00") {
			t.Errorf("%q is %q", id, name)
		}
	})
}
