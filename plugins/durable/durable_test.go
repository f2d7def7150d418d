package durable_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/plugins/durable"
)

func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	for _, want := range []string{"one", "", strings.Repeat("two", 1<<20)} {
		if err := durable.Replace(path, []byte(want)); err != nil {
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
		t.Errorf("in the folder: %v, %v", left, err)
	}
}

// What cannot be replaced stays as it was, and nothing is left beside it.
func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state")
	if err := os.MkdirAll(filepath.Join(path, "full"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(path, []byte("x")); err == nil || !strings.Contains(err.Error(), "state") {
		t.Errorf("a folder was replaced: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("in the folder: %v, %v", left, err)
	}
	if err := durable.Replace(filepath.Join(dir, "nowhere", "state"), nil); err == nil {
		t.Error("written to a folder that is not there")
	}
	if err := durable.SyncFolder(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("synced a folder that is not there")
	}
}

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	f, err := os.CreateTemp(dir, durable.Aside)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if err := durable.Replace(filepath.Join(dir, "state"), nil); err != nil {
		t.Fatal(err)
	}
	if err := durable.Sweep(dir); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 || left[0].Name() != "state" {
		t.Errorf("in the folder: %v, %v", left, err)
	}
	if err := durable.Sweep(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("swept a folder that is not there")
	}
}
