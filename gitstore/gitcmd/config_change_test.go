package gitcmd_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// A killed git leaves the lock of the configuration; that of anybody else stays.
func TestLocksOfTheConfiguration(t *testing.T) {
	for _, test := range []struct {
		name      string
		mark      time.Duration // since a process was killed during a change; 0 for none
		lock      time.Duration // since the lock was taken
		goes      bool          // by itself, soon
		isChanged bool
	}{
		{"killed", time.Minute, 59 * time.Second, false, true},
		{"killed at the same time", time.Minute, time.Minute, false, true},
		{"killed just now", time.Millisecond, 0, false, true},
		{"somebody else's", 0, time.Minute, false, false},
		{"somebody else's, from before a kill", time.Second, time.Minute, false, false},
		{"somebody else's, for a moment", 0, 0, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := gittest.Init(t)
			g := discover(t, dir)
			old := func(path string, age time.Duration) {
				t.Helper()
				write(t, path, "", 0o600)
				at := time.Now().Add(-age)
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
			}
			mark := filepath.Join(g.StateDir(), "config-change-1")
			if test.mark > 0 {
				if err := os.Mkdir(g.StateDir(), 0o700); err != nil {
					t.Fatal(err)
				}
				old(mark, test.mark)
			}
			lock := filepath.Join(dir, ".git", "config.lock")
			old(lock, test.lock)
			if test.goes {
				time.AfterFunc(50*time.Millisecond, func() { os.Remove(lock) })
			}
			ctx := t.Context()
			if !test.isChanged {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
			}
			err := g.SetLocal(ctx, "domarkx.remote", "there")
			if (err == nil) != test.isChanged {
				t.Errorf("changing it: %v", err)
			}
			if _, err := os.Lstat(lock); os.IsNotExist(err) != test.isChanged {
				t.Errorf("the lock: %v", err)
			}
			marks, _ := filepath.Glob(filepath.Join(g.StateDir(), "config-change-*"))
			if want := !test.isChanged && test.mark > 0; (len(marks) > 0) != want {
				t.Errorf("marks that are left: %q", marks)
			}
		})
	}
}
