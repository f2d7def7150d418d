package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

func TestUnnamed(t *testing.T) {
	dir := t.TempDir()
	f, err := atomicfile.CreateUnnamed(dir, 0o600)
	if runtime.GOOS != "linux" {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Fatal(err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("whole"); err != nil {
		t.Fatal(err)
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("before it has a name: %v, %v", names, err)
	}
	taken, free := filepath.Join(dir, "taken"), filepath.Join(dir, "free")
	if err := os.WriteFile(taken, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Link(f, taken); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a name that is taken: %v", err)
	}
	if err := atomicfile.Link(f, free); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{taken: "other", free: "whole"} {
		if data, err := os.ReadFile(path); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", path, data, err)
		}
	}
	if _, err := atomicfile.CreateUnnamed(filepath.Join(dir, "none"), 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a directory that is not there: %v", err)
	}
}
