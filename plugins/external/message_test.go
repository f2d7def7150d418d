package external_test

import (
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/domarkx/domarkx/plugins/external"
)

func FuzzParse(f *testing.F) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"result":null}`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"m","data":{"code":"refused"}}}`,
		`{"jsonrpc":"2.0","method":"progress"}`, `{"jsonrpc":"2.0","id":1,"method":"x"}`, `[]`, `"`, "\xff",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if err := external.Parse(line); err == nil && !utf8.Valid(line) {
			t.Error("takes what is not UTF-8")
		}
	})
}

func TestStaysInside(t *testing.T) {
	for target, want := range map[string]bool{
		"": false, "a": true, "./a": true, "/a": false, "..": true, "../..": true, "../../..": false, "../../x": true, "a/..": false, "../a/../b": false, "a//b": true, ".././..": true, `a\b`: false,
	} {
		if got := external.StaysInside("d/e/link", target); got != want {
			t.Errorf("%q: %v", target, got)
		}
	}
}

func FuzzStaysInside(f *testing.F) {
	f.Add("a/b", "../c")
	f.Fuzz(func(t *testing.T, at, target string) {
		if path.Clean("/"+at) != "/"+at || !external.StaysInside(at, target) {
			return
		}
		if to := path.Join(path.Dir(at), target); to == ".." || strings.HasPrefix(to, "../") || path.IsAbs(target) {
			t.Errorf("%q leads from %q to %q", target, at, to)
		}
	})
}
