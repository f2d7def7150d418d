package zeus_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/zeus"
)

// TestWriteNew checks that WriteNew writes complete files and never overwrites one.
func TestWriteNew(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a", "b", "c.json")
	if err := zeus.WriteNew(path, strings.NewReader("one")); err != nil {
		t.Fatal(err)
	}
	if err := zeus.WriteNew(path, strings.NewReader("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a file: %v", err)
	}
	dangling := filepath.Join(dir, "link.json")
	if err := os.Symlink(filepath.Join(dir, "target"), dangling); err != nil {
		t.Fatal(err)
	}
	if err := zeus.WriteNew(dangling, strings.NewReader("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a link that leads nowhere: %v", err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "one" {
		t.Errorf("%q, %v", data, err)
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) != 1 {
		t.Errorf("left over: %v, %v", left, err)
	}
}
