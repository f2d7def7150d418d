package integration_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// newDisk returns a site on a file system of its own.
func newDisk(t *testing.T, kind, options string) *site {
	t.Helper()
	needRoot(t, "mounting a file system")
	s := newSite(t)
	disk := s.path("disk")
	if err := os.Mkdir(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	source := "tmpfs"
	if kind == "ext4" {
		needProgram(t, "mkfs.ext4")
		source = s.path("image")
		s.must("", "truncate", "-s", "6M", source)
		s.must("", "mkfs.ext4", "-q", "-m", "0", "-N", "2000", source)
	}
	if out, err := exec.Command("mount", "-t", kind, "-o", options, source, disk).CombinedOutput(); err != nil {
		missing(t, "mounting a %s: %v: %s", kind, err, out)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	repo := s.at("disk/repo")
	s.git("init", "-q", "-b", "main", repo.dir)
	return repo
}

// fill uses up the space of the disk except for about leave bytes. The function free
// releases it.
func (s *site) fill(leave int64) (free func()) {
	s.tb.Helper()
	file, err := os.Create(s.path("../filler"))
	if err != nil {
		s.tb.Fatal(err)
	}
	defer file.Close()
	var size int64
	for _, step := range []int{64 << 10, 4 << 10} {
		for {
			n, err := file.Write(make([]byte, step))
			if size += int64(n); err != nil {
				break
			}
		}
	}
	if err := file.Truncate(max(0, size-leave)); err != nil {
		s.tb.Fatal(err)
	}
	// Force delayed allocations to happen now.
	if err := file.Sync(); err != nil {
		s.tb.Fatal(err)
	}
	return func() {
		if err := os.Remove(s.path("../filler")); err != nil {
			s.tb.Fatal(err)
		}
	}
}

// fillNodes uses up the inodes of the disk except for leave. The function free releases
// them.
func (s *site) fillNodes(leave int) (free func()) {
	s.tb.Helper()
	dir := s.path("../many")
	if err := os.Mkdir(dir, 0o777); err != nil {
		s.tb.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(n)), nil, 0o666); err != nil {
			break
		}
	}
	for i := range min(leave, n) {
		if err := os.Remove(filepath.Join(dir, fmt.Sprint(i))); err != nil {
			s.tb.Fatal(err)
		}
	}
	return func() {
		if err := os.RemoveAll(dir); err != nil {
			s.tb.Fatal(err)
		}
	}
}

// TestFaultDiskFull fills the disk at different points of an append and an import.
// Existing sessions must remain readable, the error must name the problem, and no repair
// may be necessary once space is available again.
func TestFaultDiskFull(t *testing.T) {
	t.Parallel()
	type test struct {
		name, kind, options string
		fill                func(s *site, step int) func()
		steps               int
	}
	for _, test := range []test{
		{"tmpfs", "tmpfs", "size=4m", func(s *site, step int) func() { return s.fill(int64(step) * 4096) }, 24},
		{"ext4", "ext4", "loop", func(s *site, step int) func() { return s.fill(int64(step) * 8192) }, 12},
		{"nodes", "tmpfs", "size=64m,nr_inodes=3000", func(s *site, step int) func() { return s.fillNodes(step) }, 24},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r := newDisk(t, test.kind, test.options)
			r.domarkx("append", "--new", "-m", "to begin with", "s")
			outside := newSite(t)
			failed, done := 0, 0
			stride := max(4, test.steps/5)
			if soaking() {
				stride = 1
			}
			for step := 0; step < test.steps; step += stride {
				was, text := r.shown("s")[0], fmt.Sprintf("text %d.", step)
				outside.write("many.md", document(fmt.Sprintf("many %d", step), 300))
				free := test.fill(r, step)
				for _, args := range [][]string{{"append", "--new", "-m", text, "s"}, {"import", outside.path("many.md")}} {
					o := r.try("", "git-domarkx", args...)
					switch {
					case o.code == 0:
						done++
					case o.code != 128 || !strings.Contains(strings.ToLower(o.err), "no space left"):
						t.Errorf("step %d: expected exit 128 and a word about the space: %s", step, o)
					default:
						failed++
					}
					if args[0] == "append" {
						shown := r.domarkx("show", "s")
						if o.code == 0 && strings.Count(shown, text) != 1 || o.code != 0 && shown != was || !strings.HasPrefix(shown, was[:len(was)-1]) {
							t.Fatalf("step %d: the session read %q and reads %q; %s", step, was, shown, o)
						}
					}
				}
				r.domarkx("list")
				r.domarkx("log", "s")
				free()
				r.intact("step", step)
				r.domarkx("append", "--new", "-m", fmt.Sprintf("after %d.", step), "s")
				noLocks(t, r.path(".git"), "step", step)
				r.git("prune", "--expire=now")
			}
			if failed == 0 || done == 0 {
				t.Errorf("%d commands failed and %d did not: the disk was never at its edge", failed, done)
			}
			r.sound("at the end")
			r.noScraps()
		})
	}
}

// TestFaultDiskFullMount saves in a mount while the disk is full. The saving program must
// get an error, and the session must not change.
func TestFaultDiskFullMount(t *testing.T) {
	needFUSE(t)
	t.Parallel()
	r := newDisk(t, "tmpfs", "size=4m")
	r.write("s.md", document("s", 3))
	r.domarkx("import", "s.md")
	want := r.read("s.md")
	m := mountAt(t, r, filepath.Join(t.TempDir(), "mnt"))
	free := r.fill(0)
	err := os.WriteFile(m.path("sessions/s.md"), []byte(document("too much", 2000)), 0o666)
	if err == nil {
		t.Error("a save into a full disk succeeded")
	} else if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a save into a full disk gives %v, expected %v", err, syscall.ENOSPC)
	}
	if shown := r.domarkx("show", "s"); shown != want {
		t.Errorf("after the failed save the session reads %.200q", shown)
	}
	free()
	saved := document("enough room", 4)
	m.save("sessions/s.md", saved)
	if got := m.read("sessions/s.md"); got != saved {
		t.Errorf("the file reads back %.200q", got)
	}
	eventually(t, "the save is a snapshot", func() bool { return r.domarkx("show", "s") == saved })
	m.end()
	r.sound()
}

// TestFaultDiskFullWorkspace fills the disk at different points of a call and of a
// rewind. Once space is available again, all content, including concurrent changes by
// users, must be in the directory or in a version, and the next command must succeed
// without a repair.
func TestFaultDiskFullWorkspace(t *testing.T) {
	t.Parallel()
	r := newDisk(t, "tmpfs", "size=24m")
	r.write("s.md", worked)
	r.domarkx("import", "s.md")
	r.domarkx("trust", "s")
	r.run("mkdir l; for i in $(seq 30); do head -c 20000 /dev/urandom >l/a$i; done")
	r.run("rm l/*; for i in $(seq 30); do echo $i >l/b$i; done")
	directory := strings.TrimSuffix(r.domarkx("workspace", "path", "s"), "\n")
	calls, rewinds, halves := 0, 0, 0
	stride := 4
	if soaking() {
		stride = 1
	}
	for step := 0; step < 16; step += stride {
		tip := r.tip("s")
		free := r.fill(int64(step) * 32 << 10)
		if o := r.try("", "git-domarkx", "rewind", "s#0"); o.code != 0 {
			rewinds++
			if !strings.Contains(strings.ToLower(o.err), "no space left") {
				t.Errorf("step %d: expected a word about the space: %s", step, o)
			}
		}
		if strings.Contains(r.domarkx("status"), "loading\ts\t") {
			halves++
		}
		mine := filepath.Join(directory, "mine")
		text := fmt.Sprintf("mine %d", step)
		written := os.WriteFile(mine, []byte(text), 0o666) == nil
		if o := r.try("", "git-domarkx", "exec", "--exit-code", "s", "sh", "run_command", "command=cat l/* >all"); o.code != 0 {
			calls++
		}
		free()
		if o := r.try("", "git-domarkx", "run", "s"); o.code != 0 && !strings.Contains(o.err, "interrupted") {
			t.Fatalf("step %d: %s", step, o)
		}
		r.domarkx("exec", "s", "sh", "list_dir", "path=.")
		r.same(directory, "step", step)
		if written && !r.holds("s", "sh/mine", text) {
			t.Fatalf("step %d: what was written by hand is in no version", step)
		}
		r.domarkx("rewind", "s@"+tip)
		r.same(directory, "step", step)
		if o := r.try("", "sh", "-c", "ls "+directory+"/l | grep -c b"); o.out != "30\n" {
			t.Fatalf("step %d: going back gives %s", step, o)
		}
		r.intact("step", step)
		r.git("gc", "-q", "--prune=now")
	}
	r.sound("at the end")
	if calls == 0 || rewinds == 0 || halves == 0 {
		t.Errorf("%d calls and %d rewinds failed, %d of these halfway: the disk was never at its edge", calls, rewinds, halves)
	}
	r.noScraps()
}

// holds reports whether any version of a workspace has a file with this content.
func (s *site) holds(workspace, path, text string) bool {
	s.tb.Helper()
	var files strings.Builder
	for version := range strings.FieldsSeq(s.git("rev-list", "refs/domarkx/workspaces/"+workspace)) {
		fmt.Fprintf(&files, "%s:%s\n", version, path)
	}
	return strings.Contains(s.must(files.String(), "git", "cat-file", "--batch=%(objecttype)"), "blob\n"+text+"\n")
}

// TestFaultReadOnly uses a repository on a read-only file system.
func TestFaultReadOnly(t *testing.T) {
	for _, state := range []bool{true, false} {
		t.Run(map[bool]string{true: "used before", false: "without state"}[state], func(t *testing.T) {
			t.Parallel()
			r := newDisk(t, "tmpfs", "size=16m")
			r.write("s.md", document("s", 5))
			r.domarkx("import", "s.md")
			r.domarkx("append", "--new", "-m", "more", "s")
			r.domarkx("append", "--new", "-m", "removed", "gone")
			r.domarkx("rm", "gone")
			r.git("init", "-q", "--bare", "../origin.git")
			r.git("remote", "add", "origin", "../origin.git")
			if !state {
				if err := os.RemoveAll(r.path(".git/domarkx")); err != nil {
					t.Fatal(err)
				}
			}
			reading := [][]string{
				{"list"}, {"list", "--json"}, {"show", "s"}, {"show", "s~1"}, {"show", "--format", "json", "s"}, {"show", "s#2"}, {"log", "s"},
				{"log", "--messages", "s"}, {"export", "--format", "md", "s"}, {"validate", "s.md"}, {"status"}, {"fsck"},
			}
			var want []string
			for _, args := range reading {
				want = append(want, r.domarkx(args...))
			}
			if !state {
				if err := os.RemoveAll(r.path(".git/domarkx")); err != nil {
					t.Fatal(err)
				}
			}
			disk := filepath.Dir(r.dir)
			if err := syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			before := takeCensus(t, disk)
			for i, args := range reading {
				if got := r.domarkx(args...); got != want[i] {
					t.Errorf("%q printed %q, and before %q", args, got, want[i])
				}
			}
			outside := newSite(t)
			outside.write("new.md", document("new", 2))
			for _, args := range [][]string{
				{"append", "--new", "-m", "x", "s"}, {"append", "--new", "-m", "x", "new"}, {"import", outside.path("new.md")}, {"edit", "s"}, {"rm", "s"},
				{"restore", "gone"}, {"rename", "s", "t"}, {"fork", "s#1", "f"}, {"rewind", "s#1"}, {"gc"}, {"push", "origin", "--all"},
			} {
				o := r.with("GIT_EDITOR=cp "+outside.path("new.md")).try("", "git-domarkx", args...)
				if o.code != 128 || o.out != "" || !strings.Contains(strings.ToLower(o.err), "read-only") {
					t.Errorf("expected exit 128 and a word about read-only: %s", o)
				}
			}
			if changed := before.changes(takeCensus(t, disk)); len(changed) > 0 {
				t.Errorf("these were touched: %q", changed)
			}
			readOnlyMount(t, r)
		})
	}
}

func readOnlyMount(t *testing.T, r *site) {
	needFUSE(t)
	m := mountAt(t, r, filepath.Join(t.TempDir(), "mnt"))
	was := r.domarkx("show", "s")
	if got := m.read("sessions/s.md"); got != was {
		t.Errorf("the mount shows %.300q, expected %.300q", got, was)
	}
	m.read("snapshots/s/latest.md")
	for what, err := range map[string]error{
		"writing":  os.WriteFile(m.path("sessions/s.md"), []byte("x"), 0o666),
		"making":   os.WriteFile(m.path("sessions/new.md"), []byte("x"), 0o666),
		"removing": os.Remove(m.path("sessions/s.md")),
		"renaming": os.Rename(m.path("sessions/s.md"), m.path("sessions/t.md")),
	} {
		if !errors.Is(err, syscall.EROFS) && !errors.Is(err, syscall.EACCES) {
			t.Errorf("%s in the mount of a read-only repository gives %v", what, err)
		}
	}
	m.end()
}
