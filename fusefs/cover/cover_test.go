//go:build linux

package cover_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/domarkx/domarkx/fusefs/cover"
)

func TestIs(t *testing.T) {
	for root, want := range map[string]bool{
		"/repo/.git/domarkx/unpacked/12/3.cover": true, "/12/3.cover//deleted": true,
		"/": false, "/repo": false, "/repo/3.cover/x": false, "": false,
	} {
		if got := cover.Is(root); got != want {
			t.Errorf("%q: %v", root, got)
		}
	}
}

func inside(t *testing.T, dir string) int {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return len(entries)
}

func TestFoldersOfTheDeadGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "unpacked")
	first := cover.Open(dir)
	if inside(t, filepath.Dir(dir)) != 0 {
		t.Error("a folder is made before it is needed")
	}
	if size, free, err := first.Space(); err != nil || size <= 0 || free < 0 || free > size {
		t.Fatalf("space: %d of %d, %v", free, size, err)
	}
	for _, name := range []string{"mount-left/1.cover", "mount-mine/notes", "mine/1.cover"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	second := cover.Open(dir)
	for name, stays := range map[string]bool{"mount-left": false, "mount-mine/notes": true, "mine/1.cover": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v, expected that it stays: %v", name, err, stays)
		}
	}
	for _, name := range []string{"mount-mine", "mine"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := inside(t, dir); got != 1 {
		t.Errorf("%d folders stay, expected the one that is used", got)
	}
	if _, _, err := second.Space(); err != nil || inside(t, dir) != 2 {
		t.Errorf("a second one: %v, %d folders", err, inside(t, dir))
	}
	for _, f := range []*cover.Folder{first, second, first, cover.Open(filepath.Join(dir, "none"))} {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := inside(t, dir); got != 0 {
		t.Errorf("%d folders stay", got)
	}
	if _, err := first.Create(cover.Attributes{Permissions: 0o444, Size: 1}); !errors.Is(err, os.ErrClosed) {
		t.Errorf("making a file after the end: %v", err)
	}
}

// A place that the kernel does not know, or in another mount, is told apart from what can
// never be done.
func TestPlacesThatAreNotThere(t *testing.T) {
	for _, m := range []cover.Mount{{Dir: t.TempDir(), Major: 12345}, {Dir: filepath.Join(t.TempDir(), "none")}} {
		if is, err := m.Covered(cover.Place{Parent: 1, Name: "x", Inode: 2}); is || !errors.Is(err, cover.ErrUncoverable) {
			t.Errorf("%+v: %v, %v", m, is, err)
		}
	}
}
