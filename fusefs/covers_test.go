//go:build linux

package fusefs_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/cover/covertest"
	"github.com/domarkx/domarkx/fusefs/internal/workspacetest"
)

const (
	coversVariable = serveVariable + "_COVERS" // the limits, as JSON
	loudVariable   = serveVariable + "_LOUD"   // tells all
)

// few lets files of a megabyte be covered, two at once.
const few = coversVariable + `={"From":1048576,"Files":2,"MinAge":10000000}`

// needCovers ends a test where no files can be covered: by who is not root, or by the root
// of a container. Where everything has to be tested (CI=true) root has to be able to.
func needCovers(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp(base, "fusefs-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	err = covertest.Possible(filepath.Join(dir, "covers"), 32<<20)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true" && os.Geteuid() == 0:
		t.Fatalf("cannot be tested here: %v", err)
	default:
		t.Skipf("NOT TESTED: files cannot be covered here: %v", err)
	}
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

// over reads a file to its end and waits until exactly those files are covered. After some
// time it reads it again: the kernel may have forgotten what the file is to be found by.
func (m *mount) over(name string, want string) {
	m.Helper()
	m.read(name)
	polls := 0
	m.eventually("covered are "+want, func() bool {
		if m.covered() == want {
			return true
		}
		if polls++; polls%300 == 0 {
			if err := dropPages(m.path(name)); err != nil {
				m.Error(err)
			}
			m.read(name)
		}
		return false
	})
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
	needCovers(t)
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
	if mounts := m.sh(`grep -c "$M.*/fs/run ro,nosuid,nodev,noatime " /proc/self/mountinfo`); mounts != "1\n" {
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
	needCovers(t)
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
	needCovers(t)
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
	needCovers(t)
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
	needCovers(t)
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
