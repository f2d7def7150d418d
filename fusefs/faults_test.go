//go:build linux

package fusefs_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/internal/storetest"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
)

func TestKillLosesNoAcknowledgedSave(t *testing.T) {
	slow(t)
	m := mounted(t)
	kills := 6
	if os.Getenv("SOAK") != "" {
		kills = 120
	}
	for i := range kills {
		name, want := fmt.Sprintf("sessions/s%d.md", i%3), fmt.Sprintf("save %d\n", i)
		m.save(name, want)
		time.Sleep(time.Duration(rand.IntN(400)) * time.Millisecond)
		m.kill()
		m.start()
		if got := m.read(name); got != want {
			t.Fatalf("reads back %q, want %q", got, want)
		}
		if got := m.stored(fmt.Sprintf("s%d", i%3)); len(got) != i/3+1 || got[len(got)-1] != want {
			t.Fatalf("snapshots after save %d: %q", i, got)
		}
	}
}

func TestKillKeepsRemovals(t *testing.T) {
	m := mounted(t)
	m.outside("s", doc)
	m.save("sessions/s.md", "last\n")
	m.sh(`rm s.md`)
	m.kill()
	m.start()
	if got := m.sessions(); got != "" {
		t.Errorf("sessions are %q", got)
	}
	if got := m.sh(`ls`); got != "" {
		t.Errorf("ls: %q", got)
	}
	m.outside("s", doc)
	m.sh(`rm s.md; printf again > s.md`)
	m.kill()
	m.start()
	m.expect("s", doc, "again")
}

func TestADeadMountIsClearedAway(t *testing.T) {
	m := mounted(t)
	held, err := os.Open(m.path("README.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	for range 3 {
		m.kill()
		if _, err := os.ReadDir(m.mnt); !errors.Is(err, syscall.ENOTCONN) {
			t.Fatalf("a dead mount: %v", err)
		}
		m.start()
		if got := m.sh(`ls ..`); got != "README.md\nerrors\nmessages\nsessions\nsnapshots\nworkspaces\n" {
			t.Fatalf("ls: %q", got)
		}
	}
	if _, err := mountHere(m.dir, false); !errors.Is(err, domarkx.ErrExists) {
		t.Errorf("mounting on a living mount: %v", err)
	}
}

// An invisible user may be a process that is about to close its last file, like this one,
// which the list of users leaves out.
func TestUnmountingWaitsForWhoIsJustLeaving(t *testing.T) {
	slow(t)
	for _, name := range []string{"README.md", "workspaces/w/latest/fs/f"} {
		m := mounted(t)
		m.version("w", inVersion(storetest.Tree{"f": {Content: "1"}}))
		f, err := os.Open(m.path(name))
		if err != nil {
			t.Fatal(err)
		}
		left := time.AfterFunc(time.Second, func() { f.Close() })
		defer left.Stop()
		if err := mountpoint.Unmount(t.Context(), m.mnt); err != nil {
			t.Errorf("%s was open: %v", name, err)
		}
		m.stop()
	}
}

func TestABusyMountStaysWhole(t *testing.T) {
	slow(t)
	m := mounted(t)
	m.outside("s", doc)
	for script, use := range map[string]string{
		`sleep 100`:                         "working directory sessions",
		`cd /; exec 3<$M/README.md; read x`: "open file README.md",
	} {
		cmd := m.background(script)
		var busy *mountpoint.BusyError
		m.eventually("it is busy", func() bool {
			users, err := mountpoint.Busy(m.mnt)
			return err == nil && len(users) > 0 && strings.Contains(strings.Join(users[0].Uses, ","), use)
		})
		err := mountpoint.Unmount(t.Context(), m.mnt)
		if !errors.As(err, &busy) || len(busy.Users) != 1 || busy.Users[0].PID != cmd.Process.Pid || !strings.Contains(err.Error(), use) {
			t.Errorf("unmount while %q: %v", script, err)
		}
		if got := m.read("sessions/s.md"); got != doc {
			t.Errorf("it reads %q", got)
		}
		cmd.Process.Kill()
		cmd.Wait()
	}
	m.save("sessions/s.md", "new\n")
	if err := mountpoint.Unmount(t.Context(), m.mnt); err != nil {
		t.Fatal(err)
	}
	m.stop()
	m.expect("s", doc, "new\n")
	if err := mountpoint.Unmount(t.Context(), m.mnt); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("unmounting twice: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	m := mounted(t, serveVariable+"_READONLY=1")
	m.outside("s", doc)
	if got := m.sh(`cat s.md; stat -c %a s.md`); got != doc+"444\n" {
		t.Errorf("reads %q", got)
	}
	for _, script := range []string{`echo x > s.md`, `echo x > n.md`, `rm s.md`, `mv s.md t.md`, `mkdir d`, `touch s.md`, `chmod 600 s.md`} {
		if out, err := m.trySh(script); err == nil || !strings.Contains(out, "Read-only") {
			t.Errorf("%s: %q, %v", script, out, err)
		}
	}
	if _, err := os.Stat(filepath.Join(m.dir, "drafts")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a read-only mount makes a journal: %v", err)
	}
}

func TestMountInThisProcess(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "mnt"), 0o700); err != nil {
		t.Fatal(err)
	}
	s, err := mountHere(dir, false)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(s.Dir(), "sessions", "s.md")
	// Not by package os, whose poller would wait for an answer of this process while
	// it keeps this process from answering.
	fd, err := unix.Open(name, unix.O_RDWR|unix.O_CREAT, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := unix.Write(fd, []byte(doc)); err != nil {
		t.Error(err)
	}
	got := make([]byte, 100)
	if n, err := unix.Pread(fd, got, 0); err != nil || string(got[:n]) != doc {
		t.Errorf("reads %q, %v", got[:max(n, 0)], err)
	}
	if err := unix.Close(fd); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.TryUnmount(context.Background()), s.Wait()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "store", "sessions", "s")); err != nil {
		t.Errorf("unmounting saves: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(dir, "drafts")); err != nil || len(left) != 0 {
		t.Errorf("drafts are left: %v, %v", left, err)
	}
}
