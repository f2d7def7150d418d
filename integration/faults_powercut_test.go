package integration_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// cutPower simulates a power cut on a disk that [newDisk] created, and returns the
// repository afterwards. Only data written to the disk survives.
func cutPower(t *testing.T, r *site) *site {
	t.Helper()
	image := filepath.Join(filepath.Dir(filepath.Dir(r.dir)), "image")
	s := newSite(t)
	s.must("", "cp", "--sparse=always", image, s.path("image"))
	disk := s.path("disk")
	if err := os.Mkdir(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-o", "loop", s.path("image"), disk).CombinedOutput(); err != nil {
		t.Fatalf("mounting the copy of the disk: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return s.at("disk/repo")
}

// TestFaultPowerCutAfterCollection cuts the power after an append that follows a `git
// gc`. The references that Git packed must still exist.
func TestFaultPowerCutAfterCollection(t *testing.T) {
	t.Parallel()
	r := newDisk(t, "ext4", "loop")
	r.git("commit", "-q", "--allow-empty", "-m", "Begin")
	r.must("", "sync", "-f", ".") // git init syncs nothing
	for i := range 4 {
		r.domarkx("append", "--new", "-m", "to begin with", fmt.Sprint("s", i))
	}
	for i := range 3 {
		r.git("gc", "-q", "--prune=now")
		text := fmt.Sprintf("after collection %d.", i)
		r.domarkx("append", "--new", "-m", text, "s0")
		after := cutPower(t, r)
		if got, want := after.git("for-each-ref"), r.git("for-each-ref"); got != want {
			t.Fatalf("collection %d: after the power cut there is %q, want %q", i, got, want)
		}
		if shown := after.domarkx("show", "s0"); strings.Count(shown, text) != 1 {
			t.Errorf("collection %d: the session reads %q", i, shown)
		}
		after.sound("collection", i)
		after.domarkx("append", "--new", "-m", "after the power cut", "s0")
	}
}
