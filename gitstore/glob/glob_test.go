package glob_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/domarkx/domarkx/gitstore/glob"
)

func TestBelow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repo[1]{a}-x")
	for _, name := range []string{"a/x.idx", "b/x.idx", "b/y", "x.idx"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string][]string{"*/*.idx": {"a/x.idx", "b/x.idx"}, "x.*": {"x.idx"}, "c/*": nil, "*": {"a", "b", "x.idx"}} {
		var all []string
		for _, name := range want {
			all = append(all, filepath.Join(dir, name))
		}
		if got, err := glob.Below(dir, pattern); err != nil || !slices.Equal(got, all) {
			t.Errorf("%s: %q, %v, want %q", pattern, got, err, all)
		}
	}
	if got, err := glob.Below(filepath.Join(dir, "none"), "*"); len(got) > 0 || err != nil {
		t.Errorf("in a directory that does not exist: %q, %v", got, err)
	}
	if _, err := glob.Below(dir, "["); err == nil {
		t.Error("a bad pattern is no error")
	}
}
