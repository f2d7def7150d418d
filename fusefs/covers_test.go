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

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/internal/workspacetest"
)

const (
	coversVariable = serveVariable + "_COVERS" // the limits, as JSON
	loudVariable   = serveVariable + "_LOUD"   // tells all
)

// few lets files of a megabyte be covered, two at once.
const few = coversVariable + `={"From":1048576,"Files":2,"Stays":10000000}`

// mayMount says loudly that a test tests nothing: only who may mount covers files.
func mayMount(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Log("NOT TESTED: only root may mount")
		return false
	}
	return true
}

// covered returns where files are mounted in the mount, below the versions.
func (m *mount) covered() string {
	m.Helper()
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		m.Fatal(err)
	}
	var names []string
	for _, line := range fusefs.ParseMountinfo(data) {
		if on, ok := strings.CutPrefix(fusefs.MountedOn(line), m.mnt+"/workspaces/"); ok {
			names = append(names, on[strings.LastIndex(on, "/fs/")+4:])
		}
	}
	return strings.Join(names, " ")
}

// kept returns the files that cover others.
func (m *mount) kept() []string {
	m.Helper()
	names, err := filepath.Glob(filepath.Join(m.dir, "covers/*/*"))
	if err != nil {
		m.Fatal(err)
	}
	return names
}

// over reads a file to its end and waits until exactly those files are covered.
func (m *mount) over(name string, want string) {
	m.Helper()
	m.read(name)
	m.eventually("covered are "+want, func() bool { return m.covered() == want })
}

// noise returns bytes that do not repeat.
func noise(seed byte, n int) string {
	content := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(content)
	return string(content)
}

func inVersion(items workspacetest.Tree) map[string]workspacetest.Tree {
	return map[string]workspacetest.Tree{"fs": items}
}

func large(seed byte) workspacetest.Item { return workspacetest.Item{Content: noise(seed, 2<<20+77)} }

// shown is what programs see of a file, but for what tells file systems apart.
func shown(t *testing.T, name string) string {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(name, &st); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("mode %o links %d owner %d:%d size %d block %d times %v %v", st.Mode, st.Nlink, st.Uid, st.Gid, st.Size, st.Blksize, st.Atim, st.Mtim)
}

func TestLargeFilesComeFromTheDisk(t *testing.T) {
	if !mayMount(t) {
		return
	}
	m := mounted(t)
	content := noise(1, 21<<20+123)
	script := "#!/bin/sh\necho it runs; exit 0\n" + noise(2, 17<<20)
	m.version("w", inVersion(workspacetest.Tree{
		"a b\n\\c": {Content: content}, "run": {Content: script, File: domarkx.File{Mode: 0o6755}}, "small": {Content: "small"},
	}))
	fs := m.path("workspaces/w/latest/fs")
	name := filepath.Join(fs, "a b\n\\c")
	before := []string{shown(t, name), shown(t, filepath.Join(fs, "run"))}
	const look = `cd ../workspaces/w/latest/fs; find . -type f | sort; find . -type f -links 1 -size +16M | wc -l; find . -xdev -type f | wc -l; ` +
		`ls -l | grep -v total; tar -cf - . | md5sum; tar -cf - run | tar -xOf - | md5sum; for f in *; do wc -c <"$f"; done`
	found := m.sh(strings.ReplaceAll(look, "tar -cf - . | md5sum; ", "")) // which would read all
	early, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer early.Close()
	mapped, err := unix.Mmap(int(early.Fd()), 0, len(content), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Munmap(mapped)

	m.over("workspaces/w/latest/fs/a b\n\\c", "run a b\n\\c") // find has read the other one
	whole := m.sh(look)
	if got := m.sh(strings.ReplaceAll(look, "tar -cf - . | md5sum; ", "")); got != found {
		t.Errorf("tools find %s\nbefore: %s", got, found)
	}
	for range 2 {
		for i, f := range []string{name, filepath.Join(fs, "run")} {
			if got := shown(t, f); got != before[i] {
				t.Errorf("%q shows %s\nbefore: %s", f, got, before[i])
			}
			want := []string{content, script}[i]
			if got, err := os.ReadFile(f); err != nil || string(got) != want {
				t.Errorf("%q: %d bytes, %v", f, len(got), err)
			}
		}
		if got := m.sh(`cd ../workspaces/w/latest/fs; ./run`); got != "it runs\n" {
			t.Errorf("running: %q", got)
		}
		if got, err := io.ReadAll(early); err != nil || string(got) != content {
			t.Errorf("who had it open: %d bytes, %v", len(got), err)
		}
		if _, err := early.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		// So that the next reading asks the server.
		if err := errors.Join(unix.Madvise(mapped, unix.MADV_DONTNEED), unix.Fadvise(int(early.Fd()), 0, 0, unix.FADV_DONTNEED)); err != nil {
			t.Fatal(err)
		}
		if string(mapped) != content {
			t.Error("who had it mapped sees something else")
		}
	}
	for _, script := range []string{`echo x >>run`, `rm -f run`, `mv run x`, `chmod 777 run`, `chown 0 run`, `touch run`, `ln run x`, `truncate -s 0 run`, `setfattr -n user.x -v x run`} {
		if out, err := m.trySh(`cd ../workspaces/w/latest/fs; ` + script); err == nil {
			t.Errorf("%s: %q", script, out)
		}
	}
	if mounts := m.sh(`grep -c "fs/run ro,nosuid,nodev,noatime " /proc/self/mountinfo`); mounts != "1\n" {
		t.Errorf("mounted otherwise: %s", m.sh("cat /proc/self/mountinfo"))
	}
	unix.Munmap(mapped)
	early.Close()
	m.stop()
	m.start()
	if got := m.sh(look); got != whole {
		t.Errorf("another mount shows %s\nbefore: %s", got, whole)
	}
	m.stop()
	if m.covered() != "" || len(m.kept()) > 0 {
		t.Errorf("stay: %q, %q", m.covered(), m.kept())
	}
}

func TestOnlySingleLargeFilesThatWereReadAreCovered(t *testing.T) {
	if !mayMount(t) {
		return
	}
	m := mounted(t, few)
	m.version("w", inVersion(workspacetest.Tree{
		"small": {Content: noise(1, 1<<20-1)}, "one": large(2), "two": {File: domarkx.File{HardLink: "one"}},
		"part": large(3), "whole": large(4),
	}))
	for _, name := range []string{"small", "one", "two"} {
		m.read("workspaces/w/latest/fs/" + name)
	}
	m.sh(`cd ../workspaces/w/latest/fs; head -c 10 part; tail -c 10 part`)
	m.over("workspaces/w/latest/fs/whole", "whole")
}

func TestCoversMakeRoomForOthers(t *testing.T) {
	if !mayMount(t) {
		return
	}
	m := mounted(t, few)
	tree := workspacetest.Tree{"a": large(1), "b": large(2), "c": large(3)}
	m.version("w", inVersion(tree))
	m.over("workspaces/w/latest/fs/a", "a")
	a, err := os.Open(m.path("workspaces/w/latest/fs/a"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	m.over("workspaces/w/latest/fs/b", "a b")
	m.over("workspaces/w/latest/fs/c", "b c")
	if got, err := io.ReadAll(a); err != nil || string(got) != tree["a"].Content {
		t.Errorf("who has it open reads %d bytes, %v", len(got), err)
	}
	a.Close()
	if got := m.kept(); len(got) != 2 {
		t.Errorf("kept are %q", got)
	}
	if err := dropPages(m.path("workspaces/w/latest/fs/a")); err != nil { // so that the server sees the reading
		t.Fatal(err)
	}
	m.over("workspaces/w/latest/fs/a", "c a") // from the server, which forgot nothing
	for name, item := range tree {
		if m.read("workspaces/w/latest/fs/"+name) != item.Content {
			t.Errorf("%s is another", name)
		}
	}
}

func TestCoversLeaveTheDiskFree(t *testing.T) {
	if !mayMount(t) {
		return
	}
	m := mounted(t, few)
	if err := os.MkdirAll(filepath.Join(m.dir, "covers"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("none", filepath.Join(m.dir, "covers"), "tmpfs", 0, "size=40m"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(filepath.Join(m.dir, "covers"), unix.MNT_DETACH) })
	m.version("w", inVersion(workspacetest.Tree{"huge": {Content: noise(1, 8<<20)}, "fits": large(2), "also": large(3), "third": {Content: noise(4, 1<<20)}}))
	m.read("workspaces/w/latest/fs/huge")
	m.over("workspaces/w/latest/fs/fits", "fits")
	m.over("workspaces/w/latest/fs/also", "fits also")
	// When others have filled it, what is there goes.
	if err := os.WriteFile(filepath.Join(m.dir, "covers/other"), make([]byte, 33<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	m.eventually("room is given back", func() bool { return m.covered() == "" && len(m.kept()) == 0 })
	if m.read("workspaces/w/latest/fs/fits") != noise(2, 2<<20+77) {
		t.Error("it reads otherwise")
	}
	m.stop()
}

func TestCoversGoWithTheNamesTheyAreUnder(t *testing.T) {
	if !mayMount(t) {
		return
	}
	m := mounted(t, few)
	first := m.version("w", inVersion(workspacetest.Tree{"f": large(1)}))
	m.over("workspaces/w/latest/fs/f", "f")
	m.version("w", inVersion(workspacetest.Tree{"f": large(2)}))
	if m.read("workspaces/w/latest/fs/f") != noise(2, 2<<20+77) || m.read("workspaces/w/"+folderOf(first)+"/fs/f") != noise(1, 2<<20+77) {
		t.Error("versions show each other's files")
	}
	m.eventually("both are covered", func() bool { return m.covered() == "f f" })
	// As rewinding does: the newer version is none of the workspace's any more.
	if err := m.spaces.Point("w", first.ID); err != nil {
		t.Fatal(err)
	}
	if m.read("workspaces/w/latest/fs/f") != noise(1, 2<<20+77) {
		t.Error("the newest version shows what was in another")
	}
	if err := m.spaces.Point("w", ""); err != nil {
		t.Fatal(err)
	}
	if got := m.sh(`ls ../workspaces; cat ../workspaces/w/latest/fs/f 2>/dev/null || echo none`); got != "none\n" || m.covered() != "" {
		t.Errorf("a workspace that is gone: %q, covered are %q", got, m.covered())
	}
	m.eventually("their room is given back", func() bool { return len(m.kept()) == 0 })
	m.version("w", inVersion(workspacetest.Tree{"f": large(3), "g": large(1)}))
	if m.read("workspaces/w/latest/fs/f") != noise(3, 2<<20+77) {
		t.Error("another workspace of the name shows what was there")
	}
	m.eventually("it is covered", func() bool { return m.covered() == "f" })
}

func TestCoversUnmountInAnyOrder(t *testing.T) {
	if !mayMount(t) {
		return
	}
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
	if !mayMount(t) {
		return
	}
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
	if !mayMount(t) {
		return
	}
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
	if !mayMount(t) {
		return
	}
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
	if !mayMount(t) {
		return
	}
	m := mounted(t, coversVariable+`={"From":1048576,"Files":1,"Stays":1000000}`)
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
