package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx"
)

// in returns an invocation with the given environment.
func in(t *testing.T, env map[string]string) *invocation {
	t.Helper()
	var b bytes.Buffer
	return newInvocation(context.Background(), func(name string) string { return env[name] }, stdio{strings.NewReader(""), &b, &b}, &globals{Quiet: true}, nil)
}

func TestMountDir(t *testing.T) {
	repository(t)
	top, err := filepath.EvalSymlinks(".")
	if err != nil {
		t.Fatal(err)
	}
	if top, err = filepath.Abs(top); err != nil {
		t.Fatal(err)
	}
	runtime := t.TempDir()
	t.Setenv("HOME", "/home/mira")
	for name, test := range map[string]struct {
		named, configured string
		want              string
	}{
		"named":                {"some/dir", "/elsewhere", filepath.Join(top, "some/dir")},
		"configured":           {"", "/elsewhere", "/elsewhere"},
		"configured at home":   {"", "~/sessions", "/home/mira/sessions"},
		"configured, relative": {"", "mnt", filepath.Join(top, "mnt")},
	} {
		t.Run(name, func(t *testing.T) {
			git(t, "config", "domarkx.mount.dir", test.configured)
			got, err := in(t, map[string]string{"XDG_RUNTIME_DIR": runtime}).mountDir(test.named)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; expected %q", got, err, test.want)
			}
		})
	}
	git(t, "config", "--unset", "domarkx.mount.dir")
	got, err := in(t, map[string]string{"XDG_RUNTIME_DIR": runtime}).mountDir("")
	if err != nil || !strings.HasPrefix(got, filepath.Join(runtime, "git-domarkx", filepath.Base(top))+"-") {
		t.Errorf("got %q, %v; expected a directory below %q", got, err, runtime)
	}
	if again, err := in(t, map[string]string{"XDG_RUNTIME_DIR": runtime}).mountDir(""); err != nil || again != got {
		t.Errorf("got %q, %v the second time, expected %q", again, err, got)
	}
}

func TestMountDirOfABareRepository(t *testing.T) {
	repository(t, "core.bare", "true", "domarkx.mount.dir", "mnt")
	if _, err := in(t, nil).mountDir(""); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("got %v, expected a relative path to be refused", err)
	}
}

func TestRuntimeDirIsPrivate(t *testing.T) {
	if writable("/run/user/" + uid()) {
		t.Setenv("XDG_RUNTIME_DIR", "") // so that the fallback is used
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dir, err := privateTemporary()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 || filepath.Dir(dir) != tmp {
		t.Errorf("made %q with mode %v, %v", dir, info.Mode(), err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := privateTemporary(); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a directory that others can read: got %v, expected it to be refused", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := privateTemporary(); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a link: got %v, expected it to be refused", err)
	}
}

func TestMakeMountPoint(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if err := makeMountPoint(dir); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makeMountPoint(dir); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a directory with a file in it: got %v, expected it to be refused", err)
	}
	if err := makeMountPoint(file); err == nil {
		t.Error("a file was taken for a directory")
	}
}
