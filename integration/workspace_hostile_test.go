package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// worked is a session whose workspace has a shell with a private directory.
const worked = "```yaml workspace-config\nresources:\n  - {type: local_shell, id: sh}\n```\n"

// newWorked returns a repository with the session s, and the path of its shell's
// directory.
func newWorked(tb testing.TB) (s *site, directory string) {
	tb.Helper()
	s = newRepository(tb)
	s.write("s.md", worked)
	s.domarkx("import", "s.md")
	s.domarkx("trust", "s")
	s.domarkx("exec", "s", "sh", "list_dir", "path=.")
	return s, strings.TrimSuffix(s.domarkx("workspace", "path", "s"), "\n")
}

// run runs a command with run_command, which has to succeed.
func (s *site) run(command string) string {
	s.tb.Helper()
	return s.domarkx("exec", "--exit-code", "s", "sh", "run_command", "command="+command, "timeout=900")
}

// fetched checks out the last version of the session's workspace in another directory and
// returns its path.
func (s *site) fetched(args ...string) string {
	s.tb.Helper()
	dir := filepath.Join(s.tb.TempDir(), "out")
	s.domarkx(append([]string{"checkout", "s", dir}, args...)...)
	return filepath.Join(dir, "sh")
}

// TestWorkspaceManyFilesSoak lets a tool write three thousand files, or a million when soaking.
func TestWorkspaceManyFilesSoak(t *testing.T) {
	t.Parallel()
	directories, files := 30, 100
	if soaking() {
		directories = 10000
	}
	s, directory := newWorked(t)
	s.run(fmt.Sprintf(`for d in $(seq %d); do mkdir $d; cd $d; for f in $(seq %d); do echo $d $f >$f; done; cd ..; done`, directories, files))
	if packs, _ := filepath.Glob(s.path(".git/objects/pack/*.pack")); len(packs) == 0 || len(packs) > 20 {
		t.Errorf("%d packs", len(packs))
	}
	out := s.fetched()
	s.must("", "diff", "-r", directory, out)
	s.run("echo changed >7/7; rm -r 8")
	s.domarkx("rewind", "s#1")
	s.must("", "diff", "-r", directory, out)
	s.sound()
}

// TestWorkspaceLargeFileSoak lets a tool write a large file with holes.
func TestWorkspaceLargeFileSoak(t *testing.T) {
	t.Parallel()
	size := int64(64)
	if soaking() {
		size = 2048
	}
	s, directory := newWorked(t)
	s.run(fmt.Sprintf("dd if=/dev/urandom of=large bs=1M count=%d status=none; truncate -s %dM large; truncate -s %dM sparse", size/4, size, size))
	before := s.stored()
	s.run(fmt.Sprintf("printf changed | dd of=large bs=1 seek=%d conv=notrunc status=none", size<<17))
	if grown := s.stored() - before; grown > 4<<20 {
		t.Errorf("a small change in a file of %d MB took %d KB", size, grown>>10)
	}
	out := s.fetched()
	for _, name := range []string{"large", "sparse"} {
		s.must("", "cmp", filepath.Join(directory, name), filepath.Join(out, name))
	}
	s.sound()
}

// stored returns the size of the repository's objects in bytes.
func (s *site) stored() (size int64) {
	s.tb.Helper()
	err := filepath.Walk(s.path(".git/objects"), func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			size += info.Size()
		}
		return err
	})
	if err != nil {
		s.tb.Fatal(err)
	}
	return size
}

// TestWorkspaceOddFiles lets a tool create all kinds of files and names that file systems
// support, and checks out the version elsewhere.
func TestWorkspaceOddFiles(t *testing.T) {
	t.Parallel()
	s, directory := newWorked(t)
	s.run(`mkfifo fifo; ln -s loop loop; ln -s a b; ln -s b a; mkdir -p deep/empty; chmod 751 deep; : >"$(printf 'bad\377\376name')"
		echo 1 >"$(printf 'line\nbreak')"; echo 2 >"$(printf '%0255d' 0)"; echo 3 >-dash; echo 4 >'a b'; echo 5 >.gitmodules; mkdir .git; echo 6 >.git/config
		echo 7 >one; ln one two; chmod 4755 one; mkdir up; ln -s .. up/up; echo 8 >CON; echo 9 >'back\slash'; printf 'a\r\n' >crlf; echo '* text eol=lf' >.gitattributes`)
	out := s.fetched("--yes")
	listing := func(dir string) string {
		return s.at(dir).must("", "sh", "-c", `find . -printf '%p %y %m %l %n\n' | sort; find . -type f -exec sha1sum {} + | sort`)
	}
	want := listing(directory)
	if got := listing(out); got != want {
		t.Errorf("the version has\n%s\nthe directory has\n%s", got, want)
	}
	for _, text := range []string{"bad\xff\xfename", "./fifo p", "./loop l 777 loop", "./one f 4755  2", "./.git/config"} {
		if !strings.Contains(want, text) {
			t.Errorf("%q is not in the directory:\n%s", text, want)
		}
	}
	s.domarkx("rewind", "s#0")
	if left, _ := os.ReadDir(directory); len(left) > 0 {
		t.Errorf("after rewinding to the empty directory there is %v", left)
	}
	s.domarkx("replay", "--yes", "s")
	s.sound()
}

// TestWorkspaceDevice stores device files, which only root can create.
func TestWorkspaceDevice(t *testing.T) {
	t.Parallel()
	needRoot(t, "a device file")
	s, directory := newWorked(t)
	if err := syscall.Mknod(filepath.Join(directory, "null"), syscall.S_IFCHR|0o666, 1<<8|3); err != nil {
		t.Fatal(err)
	}
	s.run("chmod 660 null") // it may be on a file system without devices, as /tmp of Debian 13
	if o := s.try("", "git-domarkx", "checkout", "s", filepath.Join(t.TempDir(), "x")); o.code == 0 {
		info, err := os.Lstat(filepath.Join(s.fetched("--yes"), "null"))
		if err != nil || info.Mode()&os.ModeCharDevice == 0 {
			t.Errorf("the device is %v, %v", info, err)
		}
	}
	s.sound()
}

// TestWorkspaceSocket leaves a socket in the workspace, as a server does.
func TestWorkspaceSocket(t *testing.T) {
	t.Parallel()
	s, directory := newWorked(t)
	short := filepath.Join(t.TempDir(), "f") // the path of a socket is limited to 107 bytes
	if err := os.Symlink(directory, short); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", filepath.Join(short, "server.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	o := s.try("", "git-domarkx", "exec", "s", "sh", "write_file", "path=file", "content=x")
	if o.code != 0 || !strings.Contains(o.err, `"server.sock"`) {
		t.Errorf("a socket does not keep the call from being recorded, and is named: %s", o)
	}
	if out := s.domarkx("status"); strings.Contains(out, "dirty") {
		t.Errorf("the socket alone makes the workspace dirty: %s", out)
	}
	out := s.fetched()
	if _, err := os.Lstat(filepath.Join(out, "server.sock")); err == nil {
		t.Error("a socket was kept")
	}
	if _, err := os.Lstat(filepath.Join(out, "file")); err != nil {
		t.Error(err)
	}
}

// TestWorkspaceUnreadable expects an error that names an unreadable file, and success
// once the file is readable or removed.
func TestWorkspaceUnreadable(t *testing.T) {
	t.Parallel()
	s, directory := newWorked(t)
	mount := filepath.Join(directory, "sub/mount")
	var mend func() error
	if os.Geteuid() == 0 { // root can read every file, but not cross mounts
		if err := os.MkdirAll(mount, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mount(t.TempDir(), mount, "", syscall.MS_BIND, ""); err != nil {
			t.Fatal(err)
		}
		mend = func() error { return syscall.Unmount(mount, syscall.MNT_DETACH) }
		t.Cleanup(func() { syscall.Unmount(mount, syscall.MNT_DETACH) })
	} else {
		s.run("mkdir sub; echo x >sub/mount; chmod 0 sub/mount || true")
		mend = func() error { return os.Chmod(mount, 0o600) }
	}
	o := s.try("", "git-domarkx", "exec", "s", "sh", "write_file", "path=file", "content=x")
	if o.code != 1 || !strings.Contains(o.out+o.err, "sub/mount") {
		t.Errorf("a file that cannot be kept is named: %s", o)
	}
	if out := s.domarkx("status"); !strings.Contains(out, "dirty") {
		t.Errorf("the workspace is dirty: %s", out)
	}
	if err := mend(); err != nil {
		t.Fatal(err)
	}
	s.domarkx("exec", "s", "sh", "list_dir", "path=.")
	if _, err := os.Lstat(filepath.Join(s.fetched(), "file")); err != nil {
		t.Error(err)
	}
	s.sound()
}

// TestWorkspaceChangingFile writes to a file continuously while versions are committed.
// Each version must have content that the file once had, or the error must name the file.
func TestWorkspaceChangingFile(t *testing.T) {
	t.Parallel()
	s, directory := newWorked(t)
	path := filepath.Join(directory, "log")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			text := bytes.Repeat([]byte{byte('a' + i%26)}, 1+i%4096)
			if os.WriteFile(path+".new", text, 0o600) == nil {
				os.Rename(path+".new", path)
			}
			time.Sleep(100 * time.Microsecond) // lets other processes run on a machine with one processor
		}
	}()
	for range 5 {
		o := s.try("", "git-domarkx", "exec", "s", "sh", "list_dir", "path=.")
		if o.code != 0 && !strings.Contains(o.out+o.err, `"log`) {
			t.Errorf("%s", o)
		}
	}
	close(stop)
	<-stopped
	s.domarkx("exec", "s", "sh", "list_dir", "path=.")
	s.must("", "diff", "-r", directory, s.fetched())
	for line := range strings.Lines(s.domarkx("workspace", "log", "s")) {
		version, _, _ := strings.Cut(line, "\t")
		text := s.try("", "git", "cat-file", "blob", version+":sh/log").out
		if text != strings.Repeat(text[:min(1, len(text))], len(text)) {
			t.Errorf("version %s has a file that never was", version)
		}
	}
	s.sound()
}

// TestWorkspaceInTurn runs calls from several processes at once. Each result must be
// linked to the version that its call created.
func TestWorkspaceInTurn(t *testing.T) {
	t.Parallel()
	const writers = 8
	s, directory := newWorked(t)
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			s.domarkx("exec", "--exit-code", "s", "sh", "run_command", fmt.Sprintf("command=ls >seen.%d; touch busy.%d; sleep 0.05; ls busy.* | wc -l; rm busy.%d", i, i, i))
		})
	}
	all.Wait()
	lines := strings.Split(strings.TrimSpace(s.domarkx("log", "--messages", "s")), "\n")
	if len(lines) != writers+1 {
		t.Fatalf("%d messages: %q", len(lines), lines)
	}
	seen := map[string]bool{}
	for k, line := range lines[1:] {
		version := strings.Split(line, "\t")[3]
		shown := s.domarkx("show", fmt.Sprintf("s#%d", k+1))
		var call struct {
			Arguments struct{ Command string }
		}
		_, text, _ := strings.Cut(shown, "tool-call\n")
		text, _, _ = strings.Cut(text, "\n```")
		if err := json.Unmarshal([]byte(text), &call); err != nil {
			t.Fatalf("%v in %s", err, shown)
		}
		own := strings.TrimPrefix(strings.Fields(call.Arguments.Command)[1], ">")
		own = strings.TrimSuffix(own, ";")
		if !strings.Contains(shown, `"output": "1\n"`) {
			t.Errorf("message %d ran together with another: %s", k+1, shown)
		}
		names := strings.Fields(s.git("ls-tree", "--name-only", version+":sh"))
		if len(names) != k+1 || seen[own] {
			t.Errorf("message %d is linked to a version with %v", k+1, names)
		}
		seen[own] = true
		if !strings.Contains(strings.Join(names, " "), own) {
			t.Errorf("message %d, which wrote %s, is linked to a version with %v", k+1, own, names)
		}
	}
	if left, _ := os.ReadDir(directory); len(left) != writers {
		t.Errorf("%d files at the end", len(left))
	}
	s.sound()
}

// TestTurnIsSmall runs small calls in a small workspace.
func TestTurnIsSmall(t *testing.T) {
	t.Parallel()
	s, _ := newWorked(t)
	for i := range 10 {
		objects, size := s.turn(i)
		if objects > 15 || size > 10_000 {
			t.Errorf("turn %d made %d objects of %d bytes", i, objects, size)
		}
	}
}

// turn runs a small call, and returns how many objects it added and their size in bytes.
func (s *site) turn(i int) (objects int, size int64) {
	s.tb.Helper()
	wasObjects, wasSize := s.objects()
	s.domarkx("exec", "s", "sh", "write_file", "path=notes.txt", fmt.Sprintf("content=note %d", i))
	objects, size = s.objects()
	return objects - wasObjects, size - wasSize
}

// objects returns the number of objects in the repository and their size on disk in
// bytes.
func (s *site) objects() (objects int, size int64) {
	s.tb.Helper()
	var loose, packed int64
	for line := range strings.Lines(s.git("count-objects", "-v")) {
		var n int64
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		fmt.Sscan(value, &n)
		switch name {
		case "count":
			loose = n
		case "in-pack":
			packed = n
		}
	}
	return int(loose + packed), s.stored()
}
