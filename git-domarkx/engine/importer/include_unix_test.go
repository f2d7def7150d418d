//go:build unix

package importer_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

// Links and special files may come from a hostile repository.
func TestIncludesOfWhatIsNoOrdinaryFile(t *testing.T) {
	c := newClone(t)
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"out": secret, "config": ".git/config", "dir": ".git", "up": "sub/..", "zero": "/dev/zero", "gone": "nothing"} {
		if err := os.Symlink(target, filepath.Join(c.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	c.WriteFile("sub/x", "x")
	c.WriteFile("good.txt", "fine")
	if err := os.Symlink("good.txt", filepath.Join(c.Dir, "inside")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(c.Dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	include := func(name string) []error {
		path := c.WriteFile("a.md", "## user\n\n[include]("+name+")\n")
		result, err := c.Import(t.Context(), importer.Request{Paths: []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		return result.Bad
	}
	for _, name := range []string{"out", "config", "dir/config", "up/config", "up/.git/config", "zero", "gone", "fifo", "sub", "sub/../../x"} {
		bad := include(name)
		if len(bad) != 1 || !strings.Contains(bad[0].Error(), "a.md:3:1: include") {
			t.Errorf("%s: %v, want an error at the line of the include", name, bad)
		}
	}
	for _, name := range []string{"inside", "good.txt", "up/good.txt"} {
		if bad := include(name); len(bad) > 0 {
			t.Errorf("%s: %v", name, bad)
		}
	}
}
