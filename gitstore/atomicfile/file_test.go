package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	for _, want := range []string{"one", "", strings.Repeat("two", 1<<20)} {
		if err := atomicfile.Replace(path, []byte(want)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%d bytes, %v; want the %d that were written", len(got), err, len(want))
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v: others can read it", info.Mode())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("in the directory: %v, %v", left, err)
	}
}

// TestReplaceFails checks that a failed replacement changes and leaves nothing.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(path, []byte("x")); err == nil || !strings.Contains(err.Error(), "state") {
		t.Errorf("a directory was replaced: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("in the directory: %v, %v", left, err)
	}
	if err := atomicfile.Replace(filepath.Join(dir, "nowhere", "state"), nil); err == nil {
		t.Error("written to a directory that is not there")
	}
	if err := atomicfile.SyncDir(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("synced a directory that is not there")
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	f, err := os.CreateTemp(dir, atomicfile.TempPrefix)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := atomicfile.Replace(filepath.Join(dir, "state"), nil); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Sweep(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "state" {
		t.Errorf("in the directory: %v, %v", left, err)
	}
	if err := atomicfile.Sweep(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("swept a directory that is not there")
	}
}

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	for _, perm := range []os.FileMode{0o600, 0o644, 0o666} {
		f, err := atomicfile.Create(path, perm)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteString("whole"); err != nil {
			t.Fatal(err)
		}
		if err := f.Commit(); err != nil {
			t.Fatal(err)
		}
		if err := f.Abort(); err != nil {
			t.Errorf("abort after commit: %v", err)
		}
		if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != perm {
			t.Errorf("mode %v, %v; want %v", info.Mode(), err, perm)
		}
	}
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if now, err := os.ReadDir(filepath.Dir(path)); err != nil || runtime.GOOS == "linux" && len(now) != 1 {
		t.Errorf("a kill would leave %v, %v", now, err)
	}
	if err := f.Abort(); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(path); err != nil || string(data) != "whole" {
		t.Errorf("after an abort: %q, %v", data, err)
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("in the directory: %v, %v", left, err)
	}
}

func TestRemove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state")
	if err := atomicfile.Replace(path, nil); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a missing file is not an error
		if err := atomicfile.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("after the removal: %v", err)
	}
}

func TestMkdirAll(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	for range 2 {
		if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Replace(filepath.Join(top, "file"), nil); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"file", "file/c"} {
		if err := atomicfile.MkdirAll(filepath.Join(top, dir), 0o700); err == nil || errors.Is(err, fs.ErrExist) {
			t.Errorf("%s, where a file is: %v", dir, err)
		}
	}
}
