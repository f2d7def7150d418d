package mountd_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// mountsOf returns the mounts of the repository in dir, with the given environment.
func mountsOf(t *testing.T, dir string, env map[string]string) *mountd.Mounts {
	t.Helper()
	git, err := gitcmd.Discover(t.Context(), dir, gittest.Env())
	if err != nil {
		t.Fatal(err)
	}
	return &mountd.Mounts{
		Git:    git,
		Getenv: func(name string) string { return env[name] },
		Warn:   func(err error) { t.Log(err) },
		Log:    t.Output(),
	}
}

func TestDir(t *testing.T) {
	top := gittest.Init(t)
	t.Chdir(top)
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
			gittest.Run(t, top, "config", "domarkx.mount.dir", test.configured)
			got, err := mountsOf(t, top, nil).Dir(t.Context(), test.named)
			if err != nil || got != test.want {
				t.Errorf("got %q, %v; expected %q", got, err, test.want)
			}
		})
	}
	gittest.Run(t, top, "config", "--unset", "domarkx.mount.dir")
	env := map[string]string{"XDG_RUNTIME_DIR": runtime}
	got, err := mountsOf(t, top, env).Dir(t.Context(), "")
	if err != nil || !strings.HasPrefix(got, filepath.Join(runtime, "git-domarkx", filepath.Base(top))+"-") {
		t.Errorf("got %q, %v; expected a directory below %q", got, err, runtime)
	}
	if again, err := mountsOf(t, top, env).Dir(t.Context(), ""); err != nil || again != got {
		t.Errorf("got %q, %v the second time, expected %q", again, err, got)
	}
}

func TestDirOfABareRepository(t *testing.T) {
	bare := gittest.Init(t, "--bare")
	gittest.Run(t, bare, "config", "domarkx.mount.dir", "mnt")
	if _, err := mountsOf(t, bare, nil).Dir(t.Context(), ""); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("got %v, expected a relative path to be refused", err)
	}
}

func TestRuntimeDirIsPrivate(t *testing.T) {
	if mountd.Writable(fmt.Sprintf("/run/user/%d", os.Getuid())) {
		t.Setenv("XDG_RUNTIME_DIR", "") // so that the fallback is used
	}
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	dir, err := mountd.PrivateTemporary()
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
	if _, err := mountd.PrivateTemporary(); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a directory that others can read: got %v, expected it to be refused", err)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(t.TempDir(), dir); err != nil {
		t.Fatal(err)
	}
	if _, err := mountd.PrivateTemporary(); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a link: got %v, expected it to be refused", err)
	}
}

func TestPrepare(t *testing.T) {
	mounts := mountsOf(t, gittest.Init(t), nil)
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 {
		if mounted, err := mounts.Prepare(t.Context(), dir); err != nil || mounted {
			t.Fatalf("got %v, %v; expected an empty directory", mounted, err)
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := mounts.Prepare(t.Context(), dir); !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("a directory with a file in it: got %v, expected it to be refused", err)
	}
	if _, err := mounts.Prepare(t.Context(), file); err == nil {
		t.Error("a file was taken for a directory")
	}
}

// TestListWithBrackets checks that mounts are found in a repository whose path has characters of globs.
func TestListWithBrackets(t *testing.T) {
	top := filepath.Join(t.TempDir(), "project [1]*")
	gittest.Run(t, "", "init", "-q", top)
	mounts := mountsOf(t, top, nil)
	note := filepath.Join(mounts.Git.StateDir(), "mounts", "0123")
	if err := os.MkdirAll(filepath.Dir(note), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(note, []byte(`{"dir": "/mnt", "pid": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := os.Open(note)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if err := atomicfile.TryLock(server); err != nil {
		t.Fatal(err)
	}
	if list, err := mounts.List(); err != nil || len(list) != 1 || list[0].Dir != "/mnt" {
		t.Errorf("got %v, %v; expected the mount", list, err)
	}
}
