package directory_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins/directory"
)

func TestWhereADirectoryMayBe(t *testing.T) {
	top := t.TempDir()
	elsewhere := t.TempDir()
	for _, dir := range []string{".git/hooks", "data/deep", "mnt/sessions"} {
		if err := os.MkdirAll(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(elsewhere, filepath.Join(top, "out")), os.Symlink(".git", filepath.Join(top, "git")),
		os.Symlink("data", filepath.Join(top, "in"))); err != nil {
		t.Fatal(err)
	}
	for path, ok := range map[string]bool{
		"data": true, "data/deep": true, "new/directory": true, "in": true,
		".": true, "..": false, "../x": false, elsewhere: false, ".git": false, ".git/hooks": false, ".git/new": false, "git": false, "git/new": false,
		"out": false, "out/new": false, "mnt": true, "mnt/sessions": false, "mnt/sessions/x": false, "data/../.git": false,
	} {
		env := domarkx.Env{
			Dir: t.TempDir(), WorkTree: top, Forbidden: []string{filepath.Join(top, "mnt/sessions")},
			Config: domarkx.ObjectValue().With("path", domarkx.StringValue(path)),
		}
		f, err := directory.Open(env)
		if (err == nil) != ok {
			t.Errorf("path %q: %v", path, err)
		}
		if err == nil {
			f.Close(t.Context())
		}
		env.WorkTree = ""
		if _, err := directory.Open(env); err == nil {
			t.Errorf("path %q in a bare repository: no error", path)
		}
	}
	for _, path := range []string{".git/new", "mnt/sessions/x"} {
		if _, err := os.Lstat(filepath.Join(top, path)); err == nil {
			t.Errorf("%q was made", path)
		}
	}
	if left, _ := os.ReadDir(elsewhere); len(left) > 0 {
		t.Error("something was made outside")
	}
}

// TestLinkInPlaceOfTheDirectory replaces the directory by a link to files outside of the resource.
func TestLinkInPlaceOfTheDirectory(t *testing.T) {
	env := domarkx.Env{Dir: t.TempDir(), Config: domarkx.ObjectValue()}
	f, err := directory.Open(env)
	if err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	mine := filepath.Join(outside, "mine")
	if err := errors.Join(os.WriteFile(mine, nil, 0o600), os.Remove(f.Path()), os.Symlink(outside, f.Path())); err != nil {
		t.Fatal(err)
	}
	if _, err := directory.Open(env); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("opened: %v", err)
	}
	if err := f.TearDown(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(f.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the link is there: %v", err)
	}
	if _, err := os.Lstat(mine); err != nil {
		t.Error(err)
	}
}
