//go:build linux

package fusefs_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/internal/workspacetest"
)

func TestCoversUnmountInAnyOrder(t *testing.T) {
	needCovers(t)
	for name, unmount := range map[string]func(m *mount) error{
		"by another process": func(m *mount) error { return fusefs.Unmount(m.Context(), m.mnt) },
		"by the server":      func(m *mount) error { m.stop(); return nil },
		"all, one by one":    func(m *mount) error { return exec.Command("umount", "-R", m.mnt).Run() },
		"all at once":        func(m *mount) error { return unix.Unmount(m.mnt, unix.MNT_DETACH) },
		"the covers first":   func(m *mount) error { return eachCover(m) },
		"the versions, lazily": func(m *mount) error {
			if err := unix.Unmount(m.path("workspaces"), unix.MNT_DETACH); err != nil {
				return err
			}
			m.eventually("they are back", func() bool { return len(m.inner()) == 1 })
			m.over("workspaces/w/latest/fs/f", "f")
			return fusefs.Unmount(m.Context(), m.mnt)
		},
		"the versions, as fusermount3 -u -z does": func(m *mount) error {
			if err := exec.Command("fusermount3", "-u", "-z", m.path("workspaces")).Run(); err != nil {
				return err
			}
			m.eventually("they are back", func() bool { return len(m.inner()) == 1 })
			return fusefs.Unmount(m.Context(), m.mnt)
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := mounted(t, few)
			m.version("w", inVersion(workspacetest.Tree{"f": large(1), "g": large(2)}))
			m.over("workspaces/w/latest/fs/f", "f")
			m.over("workspaces/w/latest/fs/g", "f g")
			if err := unmount(m); err != nil {
				t.Fatal(err)
			}
			m.stop()
			if table := m.table(); strings.Contains(table, m.dir) || len(m.kept()) > 0 {
				t.Errorf("stay: %q\n%s", m.kept(), table)
			}
		})
	}
}

func (m *mount) table() string {
	m.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		m.Fatal(err)
	}
	return string(data)
}

// eachCover unmounts what is over files as a user may, and has them covered again.
func eachCover(m *mount) error {
	for _, name := range []string{"f", "g"} {
		if err := exec.Command("umount", m.path("workspaces/w/latest/fs/"+name)).Run(); err != nil {
			return fmt.Errorf("umount %s: %w", name, err)
		}
	}
	// So that the server sees the next reading.
	if err := dropPages(m.path("workspaces/w/latest/fs/f")); err != nil {
		return err
	}
	m.over("workspaces/w/latest/fs/f", "f")
	if m.read("workspaces/w/latest/fs/f") != noise(1, 2<<20+77) {
		return errors.New("it shows something else")
	}
	return fusefs.Unmount(m.Context(), m.mnt)
}

func dropPages(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close())
}

func TestWhoReadsACoverKeepsAllMounted(t *testing.T) {
	needCovers(t)
	m := mounted(t, few)
	m.version("w", inVersion(workspacetest.Tree{"f": large(1)}))
	m.over("workspaces/w/latest/fs/f", "f")
	for _, c := range []struct{ kind, script string }{
		{"open file", `exec 8<../workspaces/w/latest/fs/f; read x`},
		{"mapped file", `exec python3 -c 'import mmap, sys; f = open("'$M'/workspaces/w/latest/fs/f", "rb"); x = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); f.close(); sys.stdin.read()'; :`},
	} {
		reader := m.background(c.script)
		m.eventually("the reader has it", func() bool {
			users, err := fusefs.Busy(m.mnt)
			return err == nil && len(users) == 1 && strings.Contains(strings.Join(users[0].Uses, " "), c.kind+" workspaces/w/")
		})
		err := fusefs.Unmount(m.Context(), m.mnt)
		var busy *fusefs.BusyError
		if !errors.As(err, &busy) || len(busy.Users) != 1 || busy.Users[0].PID != reader.Process.Pid {
			t.Errorf("%s: %v", c.kind, err)
		}
		if got := m.covered(); got != "f" || m.read("workspaces/w/latest/fs/f") != noise(1, 2<<20+77) {
			t.Errorf("after that: covered are %q", got)
		}
		reader.Process.Kill()
		reader.Wait()
	}
	// Who uses something else keeps it mounted too, but perhaps not the covers.
	cwd := exec.Command("sleep", "1000")
	cwd.Dir = m.path("workspaces/w/latest/fs")
	if err := cwd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := fusefs.Unmount(m.Context(), m.mnt); err == nil {
		t.Error("unmounted while somebody is in it")
	}
	if m.read("workspaces/w/latest/fs/f") != noise(1, 2<<20+77) {
		t.Error("it reads otherwise")
	}
	cwd.Process.Kill()
	cwd.Wait()
	if err := fusefs.Unmount(m.Context(), m.mnt); err != nil {
		t.Error(err)
	}
	m.stop()
	if strings.Contains(m.table(), m.dir) || len(m.kept()) > 0 {
		t.Errorf("stay: %q\n%s", m.kept(), m.table())
	}
}

func TestADeadMountTakesItsCoversAlong(t *testing.T) {
	needCovers(t)
	for name, environ := range map[string][]string{"inside": {few}, "beside": {few, besideVariable}} {
		t.Run(name, func(t *testing.T) {
			m := mounted(t, environ...)
			at := m.path("workspaces")
			if len(environ) > 1 {
				at = filepath.Join(m.dir, "beside")
			}
			m.version("w", inVersion(workspacetest.Tree{"f": large(1)}))
			covers := func() int { return strings.Count(m.table(), " "+at+"/") }
			for range 3 {
				m.read("workspaces/w/latest/fs/f")
				m.eventually("it is covered", func() bool { return covers() == 1 })
				f, err := os.Open(m.path("workspaces/w/latest/fs/f"))
				if err != nil {
					t.Fatal(err)
				}
				m.kill()
				if got := m.kept(); len(got) != 1 {
					t.Errorf("a dead one has kept %q", got)
				}
				m.start(environ...)
				if covers() != 0 || len(m.kept()) != 0 || len(m.inner()) != 1 {
					t.Errorf("after a kill: %d covers, %q, %d mounts", covers(), m.kept(), len(m.inner()))
				}
				if got, err := io.ReadAll(f); err != nil || string(got) != noise(1, 2<<20+77) {
					t.Errorf("who had it open: %d bytes, %v", len(got), err)
				}
				f.Close()
			}
			m.read("workspaces/w/latest/fs/f")
			m.eventually("it is covered", func() bool { return covers() == 1 })
			m.kill()
			// Without another server.
			if err := fusefs.Unmount(m.Context(), m.mnt); err != nil {
				t.Error(err)
			}
			if err := fusefs.Recover(m.Context(), at); err != nil && len(environ) > 1 {
				t.Error(err)
			}
			if strings.Contains(m.table(), m.dir) {
				t.Errorf("stay: %s", m.table())
			}
		})
	}
}

// Without a capability that it takes all is as without covers.
func TestNothingIsCoveredByWhoMayNot(t *testing.T) {
	needCovers(t)
	m := mounted(t)
	m.version("w", inVersion(workspacetest.Tree{"f": large(1), "g": large(2)}))
	m.stop()
	for _, without := range []string{"-dac_read_search", "-chown"} {
		m.without = without
		m.start(few, loudVariable+"=1")
		m.read("workspaces/w/latest/fs/f")
		m.eventually("it is tried", func() bool { return strings.Contains(m.stderr.String(), `msg="covering files"`) })
		for range 2 {
			for i, name := range []string{"f", "g"} {
				if m.read("workspaces/w/latest/fs/"+name) != noise(byte(i+1), 2<<20+77) {
					t.Errorf("%s reads otherwise", name)
				}
				if err := dropPages(m.path("workspaces/w/latest/fs/" + name)); err != nil {
					t.Error(err)
				}
			}
		}
		if m.covered() != "" || len(m.kept()) > 0 {
			t.Errorf("without %s are covered: %q, %q", without, m.covered(), m.kept())
		}
		m.stop()
		if said := m.stderr.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "level=DEBUG") {
			t.Errorf("without %s it says %q", without, said)
		}
	}
}

// While covers come and go, everybody reads the same.
func TestReadersNoticeNothingOfCovers(t *testing.T) {
	needCovers(t)
	m := mounted(t, coversVariable+`={"From":1048576,"Files":1,"MinAge":1000000}`)
	tree := workspacetest.Tree{}
	for i := range 4 {
		tree[strconv.Itoa(i)] = large(byte(i))
	}
	m.version("w", inVersion(tree))
	var readers sync.WaitGroup
	for r := range 4 {
		readers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(r), 1))
			part := make([]byte, 300<<10)
			for range 60 {
				i := random.IntN(4)
				name, want := m.path(fmt.Sprintf("workspaces/w/latest/fs/%d", i)), tree[strconv.Itoa(i)].Content
				f, err := os.Open(name)
				if err != nil {
					t.Error(err)
					return
				}
				at := random.IntN(len(want))
				n, err := f.ReadAt(part, int64(at))
				if err != nil && err != io.EOF || string(part[:n]) != want[at:min(at+len(part), len(want))] {
					t.Errorf("%d bytes at %d of %d: %v", n, at, i, err)
				}
				whole, err := io.ReadAll(f)
				if err != nil || !bytes.Equal(whole, []byte(want)) {
					t.Errorf("all of %d: %d bytes, %v", i, len(whole), err)
				}
				if err := errors.Join(unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED), f.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	readers.Wait()
}
