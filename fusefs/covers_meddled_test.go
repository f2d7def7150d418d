//go:build linux

package fusefs_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/cover"
	"github.com/domarkx/domarkx/fusefs/internal/workspacetest"
)

// What root does to the files that cover others shows through, but not for long.
func TestWhatIsDoneToUnpackedFilesIsTakenAway(t *testing.T) {
	needCovers(t)
	m := mounted(t, few)
	m.version("w", inVersion(workspacetest.Tree{"f": large(1)}))
	name := m.path("workspaces/w/latest/fs/f")
	before := shown(t, name)
	for what, do := range map[string]func(cover string) error{
		"its mode":           func(cover string) error { return os.Chmod(cover, 0o777) },
		"its owner":          func(cover string) error { return os.Chown(cover, 1, 1) },
		"its times":          func(cover string) error { return os.Chtimes(cover, time.Unix(1, 0), time.Unix(1, 0)) },
		"its content":        func(cover string) error { return os.WriteFile(cover, []byte("x"), 0o600) },
		"its length":         func(cover string) error { return os.Truncate(cover, 1) },
		"another name":       func(cover string) error { return os.Link(cover, filepath.Join(m.dir, "linked")) },
		"no name":            os.Remove,
		"its name":           func(cover string) error { return os.Rename(cover, filepath.Join(m.dir, "elsewhere")) },
		"an attribute":       func(cover string) error { return unix.Setxattr(cover, "trusted.x", []byte("v"), 0) },
		"no folder it is in": func(cover string) error { return os.RemoveAll(filepath.Dir(filepath.Dir(cover))) },
	} {
		m.over("workspaces/w/latest/fs/f", "f")
		if err := do(m.kept()[0]); err != nil && !errors.Is(err, unix.EOPNOTSUPP) {
			t.Fatal(err)
		} else if err != nil {
			t.Logf("NOT TESTED: %s: %v", what, err)
			continue
		}
		m.eventually(what+" is taken away", func() bool { return m.covered() == "" && len(m.kept()) == 0 })
		if got := shown(t, name); got != before || m.read("workspaces/w/latest/fs/f") != noise(1, 2<<20+77) {
			t.Errorf("%s: it shows %s\nbefore: %s", what, got, before)
		}
		if err := dropPages(name); err != nil {
			t.Error(err)
		}
	}
}

// Who reads without end keeps what he reads from being unpacked, and nothing else from being
// looked after.
func TestCoversAreLookedAfterWhileSomebodyReads(t *testing.T) {
	needCovers(t)
	m := mounted(t, few)
	m.version("w", inVersion(workspacetest.Tree{"f": large(1), "g": {Content: noise(2, 16<<20)}}))
	m.over("workspaces/w/latest/fs/f", "f")
	unpacked := m.kept()[0]
	g, err := os.Open(m.path("workspaces/w/latest/fs/g"))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	done := make(chan struct{})
	var reading sync.WaitGroup
	defer reading.Wait()
	defer close(done)
	reading.Go(func() {
		part := make([]byte, 1<<20)
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
			}
			_, err := g.ReadAt(part, int64(i%16)<<20)
			if err := errors.Join(err, unix.Fadvise(int(g.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	m.eventually("it is begun to unpack", func() bool { return len(m.kept()) == 2 })
	if err := os.Chmod(unpacked, 0o600); err != nil {
		t.Fatal(err)
	}
	m.eventually("what was changed is taken away", func() bool { return !strings.HasPrefix(m.covered(), "f") })
}

// While something is mounted over a cover, that cannot be taken away, and all others can.
func TestWhatIsMountedOverACoverKeepsIt(t *testing.T) {
	needCovers(t)
	m := mounted(t, few, loudVariable+"=1")
	m.version("w", inVersion(workspacetest.Tree{"a": large(1), "b": large(2), "c": large(3)}))
	a, other := m.path("workspaces/w/latest/fs/a"), filepath.Join(m.dir, "other")
	if err := os.WriteFile(other, []byte("other"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.over("workspaces/w/latest/fs/a", "a")
	m.over("workspaces/w/latest/fs/b", "a b")
	if err := unix.Mount(other, a, "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	m.read("workspaces/w/latest/fs/c")
	m.eventually("room for another is tried to make", func() bool { return strings.Contains(m.stderr.String(), "something else is mounted over it") })
	if got := m.read("workspaces/w/latest/fs/a"); got != "other" || m.covered() != "a b a" || len(m.kept()) != 2 {
		t.Errorf("it reads %q, covered are %q, kept %q", got, m.covered(), m.kept())
	}
	for _, name := range m.kept() {
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.eventually("the other one is taken away", func() bool { return m.covered() == "a a" })
	if err := unix.Unmount(a, unix.MNT_DETACH); err != nil { // the server may just be looking at it
		t.Fatal(err)
	}
	m.eventually("so is that one, then", func() bool { return m.covered() == "" && len(m.kept()) == 0 })
	if m.read("workspaces/w/latest/fs/a") != noise(1, 2<<20+77) {
		t.Error("it reads otherwise")
	}
	m.stop()
}

func TestAMountWhoseFolderIsRenamedUncovers(t *testing.T) {
	needCovers(t)
	m := mounted(t, few)
	m.version("w", inVersion(workspacetest.Tree{"a": large(1), "b": large(2), "c": large(3)}))
	m.over("workspaces/w/latest/fs/a", "a")
	m.over("workspaces/w/latest/fs/b", "a b")
	// All but the mount is found as before, at each moment.
	moved, was := m.dir+"-moved", m.mnt
	if err := os.Mkdir(moved, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"store", "workspaces", "drafts", "covers"} {
		if err := os.Symlink(filepath.Join(moved, name), filepath.Join(moved, name)); err != nil {
			t.Fatal(err)
		}
	}
	exchange := func() error {
		return unix.Renameat2(unix.AT_FDCWD, m.dir, unix.AT_FDCWD, moved, unix.RENAME_EXCHANGE)
	}
	if err := exchange(); err != nil {
		t.Fatal(err)
	}
	back := sync.OnceValue(func() error {
		m.mnt = was
		return errors.Join(exchange(), os.RemoveAll(moved))
	})
	t.Cleanup(func() { back() }) // before the mount is stopped
	m.mnt = filepath.Join(moved, "mnt")
	m.over("workspaces/w/latest/fs/c", "b c")
	if err := back(); err != nil {
		t.Fatal(err)
	}
	m.stop()
	if m.covered() != "" || len(m.kept()) > 0 {
		t.Errorf("stay: %q, %q", m.covered(), m.kept())
	}
}

// What goes wrong with one file is not tried no more with others.
func TestAPassingErrorIsAboutOneFile(t *testing.T) {
	needCovers(t)
	m := mounted(t, few, loudVariable+"=1")
	m.version("w", inVersion(workspacetest.Tree{"f": large(1), "g": large(2)}))
	covers := filepath.Join(m.dir, "covers")
	if err := os.WriteFile(covers, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.read("workspaces/w/latest/fs/f")
	m.eventually("it is tried", func() bool { return strings.Contains(m.stderr.String(), `msg="covering a file"`) })
	if err := os.Remove(covers); err != nil {
		t.Fatal(err)
	}
	m.over("workspaces/w/latest/fs/g", "g")
}

// Where others may not know of locks nothing is unpacked, and nothing removed.
func TestNothingIsUnpackedToNetworkFileSystems(t *testing.T) {
	m := mounted(t)
	dir := m.path("sessions/.scratch/unpacked") // of FUSE, as far as can be seen from outside
	left := filepath.Join(dir, "mount-other", "1.cover")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o700), os.WriteFile(left, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	folder := cover.Open(dir)
	if _, _, err := folder.Space(); !cover.Impossible(err) {
		t.Errorf("unpacking there: %v", err)
	}
	if err := folder.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(left); err != nil {
		t.Errorf("what may be of another machine: %v", err)
	}
}

func TestUnpackedTellsWhatIsMounted(t *testing.T) {
	needCovers(t)
	m := mounted(t, few)
	m.version("w", inVersion(workspacetest.Tree{"f": large(1)}))
	if fusefs.Unpacked(m.mnt) {
		t.Error("before anything was read")
	}
	m.over("workspaces/w/latest/fs/f", "f")
	if !fusefs.Unpacked(m.mnt) || fusefs.Unpacked(m.dir+"/other") {
		t.Error("one that is there is not known, or another one is")
	}
	m.kill()
	if !fusefs.Unpacked(m.mnt) {
		t.Error("one of a dead mount is not known")
	}
	if err := fusefs.Unmount(m.Context(), m.mnt); err != nil {
		t.Error(err)
	}
	if fusefs.Unpacked(m.mnt) {
		t.Error("after it was unmounted")
	}
}
