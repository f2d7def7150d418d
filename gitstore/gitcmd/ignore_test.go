package gitcmd_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestIgnoredNames(t *testing.T) {
	dir := gittest.Init(t)
	for name, content := range map[string]string{".gitignore": ".env\n*.log\n!keep.log\n/only/\n/vendor/\n", "sub/.gitignore": "secret\n", "tracked.log": "x", "nested/file": "x"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	gittest.Run(t, dir, "add", "-f", "tracked.log")
	gittest.Run(t, dir, "init", "-q", "nested")
	gittest.Run(t, filepath.Join(dir, "nested"), "commit", "-q", "--allow-empty", "-m", "x")
	gittest.Run(t, dir, "add", "nested")
	gittest.Run(t, dir, "init", "-q", "vendor/own")
	gittest.Run(t, dir, "init", "-q", "vendor")
	if err := os.Symlink("sub", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	g, err := gitcmd.Discover(t.Context(), dir, gittest.Env())
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"a", ".env", "not/there/.env", "keep.log", "tracked.log", "sub/secret", "secret", "link/secret", "link/.env", "nested/.env", "nested/ok", "vendor/file", "vendor/own/file",
		".git/config", "only/file", "deep/only/file", "-x.log", ":(top)x.log", "new\nline.log", "b\xff.log", strings.Repeat("x/", 3000) + ".env"}
	for _, index := range []bool{true, false} {
		ignored, err := g.IgnoredNames(t.Context(), names, index)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"-x.log", ".env", ":(top)x.log", "b\xff.log", "link/.env", "nested/.env", "new\nline.log", "not/there/.env", "only/file", "sub/secret", "vendor/file", "vendor/own/file"}
		if !index {
			want = slices.Sorted(slices.Values(append(want, "tracked.log")))
		}
		if got := slices.Sorted(maps.Keys(ignored)); !slices.Equal(got, want) {
			t.Errorf("index %v: %q, want %q", index, got, want)
		}
	}
	bare, err := gitcmd.Discover(t.Context(), gittest.Init(t, "--bare"), gittest.Env())
	if err != nil {
		t.Fatal(err)
	}
	if ignored, err := bare.IgnoredNames(t.Context(), names, false); err != nil || len(ignored) != 0 {
		t.Errorf("in a bare repository: %v, %v", ignored, err)
	}
}
