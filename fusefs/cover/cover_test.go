//go:build linux

package cover_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

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
	at := func(dir string) func() (string, error) { return func() (string, error) { return dir, nil } }
	for name, m := range map[string]cover.Mount{
		"another mount": {Dir: at(t.TempDir()), Major: 12345},
		"no folder":     {Dir: at(filepath.Join(t.TempDir(), "none"))},
		"no mount":      {Dir: func() (string, error) { return "", fs.ErrNotExist }},
	} {
		if is, err := m.Covered(cover.Place{Parent: 1, Name: "x", Inode: 2}); is || err == nil || cover.Impossible(err) {
			t.Errorf("%s: %v, %v", name, is, err)
		}
	}
}

func TestImpossible(t *testing.T) {
	for err, want := range map[error]bool{
		unix.EPERM: true, unix.EACCES: true, unix.ENOSYS: true, unix.EOPNOTSUPP: true, unix.EINVAL: true, unix.EROFS: true, errors.ErrUnsupported: true,
		nil: false, unix.EMFILE: false, unix.ENFILE: false, unix.ENOMEM: false, unix.EIO: false, unix.EINTR: false, unix.EAGAIN: false, unix.ENOENT: false,
		unix.ESTALE: false, unix.ENOSPC: false, unix.EDQUOT: false, unix.ENOTCONN: false, context.Canceled: false, os.ErrClosed: false,
	} {
		if err != nil {
			err = fmt.Errorf("covering: %w", err)
		}
		if got := cover.Impossible(err); got != want {
			t.Errorf("%v: %v", err, got)
		}
	}
}

// Who looks for what is left may remove a folder before the process that made it has locked
// it.
func TestAFolderThatWasRemovedBeforeItIsLocked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "mount-1")
	for _, again := range []bool{false, true} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := cover.Hold(f); err != nil {
			t.Error(err)
		}
		if err := os.Remove(dir); err != nil {
			t.Fatal(err)
		}
		if again {
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := cover.Hold(f); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("one that is gone: %v", err)
		}
		f.Close()
	}
}

// own returns the folder of the only process in a folder.
func own(t *testing.T, dir string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "mount-*"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%q, %v", names, err)
	}
	return names[0]
}

func TestAFolderThatSomebodyRemovesIsMadeAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "unpacked")
	f := cover.Open(dir)
	for range 2 {
		if _, _, err := f.Space(); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(own(t, dir)); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := f.Space(); err != nil {
		t.Fatal(err)
	}
	// It is removed in the end, unless somebody else has put something into it.
	notes := filepath.Join(own(t, dir), "notes")
	if err := os.WriteFile(notes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(notes); err != nil {
		t.Error(err)
	}
}
