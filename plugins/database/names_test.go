package database_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/database"
	"pgregory.net/rapid"
)

func TestFileName(t *testing.T) {
	for name, want := range map[string]string{
		"": "%", "Orders_2024-01.a": "Orders_2024-01.a", ".git": "%2Egit", "..": "%2E%2E", "a.": "a%2E", "a/b\\c": "a%2Fb%5Cc", "%": "%25", "é\x00": "%C3%A9%00",
		strings.Repeat("x", 201): strings.Repeat("x", 100) + "%",
	} {
		got := database.FileName(name)
		if len(name) > 200 {
			got = got[:101] // a digest follows
		}
		if got != want {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		if x, y := database.FileName(a), database.FileName(b); (x == y) != (a == b) || len(x) > 220 || strings.ContainsAny(x, "/\\\x00 :") || strings.HasPrefix(x, ".") {
			t.Errorf("%q: %q, %q: %q", a, x, b, y)
		}
	})
}
