package hooks_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/agents/hooks"
)

// TestReplaceFile checks that a settings file is replaced only as it was read, where links lead, and with its mode.
func TestReplaceFile(t *testing.T) {
	u := newUser(t, t.TempDir())
	link := func(to, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(u.path(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, u.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	u.write(t, "plain", "old")
	u.write(t, "dotfiles/real", "old")
	link("dotfiles/real", "link")
	link(u.path("link"), "link to a link")
	link("dotfiles/not yet", "dangling")
	link("../dotfiles/other", "below/dangling")
	if err := os.Chmod(u.path("plain"), 0o640); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		path, written string
		mode          os.FileMode
	}{
		"a file":                      {"plain", "plain", 0o640},
		"through a link":              {"link", "dotfiles/real", 0o600},
		"through two":                 {"link to a link", "dotfiles/real", 0o600},
		"a new one":                   {"new/directory/file", "new/directory/file", 0o600},
		"a new one through a link":    {"dangling", "dotfiles/not yet", 0o600},
		"a new one by a link upwards": {"below/dangling", "dotfiles/other", 0o600},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := hooks.ReadFile(u.path(test.path))
			if err != nil || f.Path != u.path(test.path) {
				t.Fatalf("%+v, %v", f, err)
			}
			if err := f.Replace([]byte("new by " + name)); err != nil {
				t.Fatal(err)
			}
			if got := u.read(t, test.written); got != "new by "+name {
				t.Errorf("it has %q", got)
			}
			info, err := os.Lstat(u.path(test.written))
			if err != nil || info.Mode() != test.mode {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if err := f.Replace([]byte("again")); !errors.Is(err, hooks.ErrChanged) {
				t.Errorf("what it was read as is gone, but it is replaced: %v", err)
			}
		})
	}
	if target, err := os.Readlink(u.path("link")); err != nil || target != "dotfiles/real" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
}

// TestReplaceChangedFile checks that what another program wrote or removed meanwhile stays so.
func TestReplaceChangedFile(t *testing.T) {
	u := newUser(t, t.TempDir())
	for name, test := range map[string]struct {
		before, meanwhile string // "" for no file
		data              []byte
	}{
		"changed":                  {"a", "b", []byte("c")},
		"removed":                  {"a", "", []byte("c")},
		"created":                  {"", "b", []byte("c")},
		"changed before a removal": {"a", "b", nil},
		"longer":                   {"a", "ab", []byte("c")},
	} {
		t.Run(name, func(t *testing.T) {
			path := "f/" + name
			if test.before != "" {
				u.write(t, path, test.before)
			}
			f, err := hooks.ReadFile(u.path(path))
			if err != nil || f.Missing != (test.before == "") {
				t.Fatalf("%+v, %v", f, err)
			}
			if test.meanwhile == "" {
				if err := os.Remove(u.path(path)); err != nil {
					t.Fatal(err)
				}
			} else {
				u.write(t, path, test.meanwhile)
			}
			if err := f.Replace(test.data); !errors.Is(err, hooks.ErrChanged) || !strings.Contains(err.Error(), u.path(path)) {
				t.Errorf("got %v", err)
			}
			data, err := os.ReadFile(u.path(path))
			if string(data) != test.meanwhile || (err == nil) != (test.meanwhile != "") {
				t.Errorf("it has %q, %v", data, err)
			}
			if left, err := os.ReadDir(u.path("f")); err != nil || len(left) > 1 {
				t.Errorf("left over: %v, %v", left, err)
			}
			os.RemoveAll(u.path("f"))
		})
	}
}

func TestRemoveFile(t *testing.T) {
	u := newUser(t, t.TempDir())
	u.write(t, "f", "a")
	f, err := hooks.ReadFile(u.path("f"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Replace(nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(u.path("f")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
}

// TestFilesThatAreNone checks that a file without settings is refused before anything is written.
func TestFilesThatAreNone(t *testing.T) {
	u := newUser(t, t.TempDir())
	u.write(t, "read-only", "{}")
	if err := os.Mkdir(u.path("directory"), 0o700); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"loop": "loop", "a": "b", "b": "a"} {
		if err := os.Symlink(to, u.path(from)); err != nil {
			t.Fatal(err)
		}
	}
	large, err := os.Create(u.path("large"))
	if err == nil {
		err = errors.Join(large.Truncate(32<<20+1), large.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"directory": "it is not a regular file", "large": "it has more than 32 MiB", "loop": "too many", "a": "too many", "large/below": "not a directory",
	} {
		if f, err := hooks.ReadFile(u.path(name)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "reading "+u.path(name)) {
			t.Errorf("%s: %+v, %v", name, f, err)
		}
	}
	if _, err := hooks.ReadFile(".qwen/settings.json"); err == nil || !strings.Contains(err.Error(), "set HOME") {
		t.Errorf("without HOME: %v", err)
	}
	if err := os.Chmod(u.path("read-only"), 0o400); err != nil {
		t.Fatal(err)
	}
	f, err := hooks.ReadFile(u.path("read-only"))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Replace([]byte("x")); err == nil || !strings.Contains(err.Error(), "chmod u+w") || u.read(t, "read-only") != "{}" {
		t.Errorf("a read-only file: %v", err)
	}
}
