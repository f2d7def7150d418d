package mountpoint_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/mountpoint"
	"github.com/domarkx/domarkx/gitstore/atomicfile/shorttest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("MOUNTPOINT_TEST_SERVE"); dir != "" {
		serve(dir, os.Getenv("MOUNTPOINT_TEST_NAME"))
	}
	os.Exit(shorttest.Main(m))
}

const label = "/repo with blank"

// serve serves a mount with the file "f", until it is unmounted, its standard input ends or it is killed.
func serve(dir, name string) {
	root := &fs.Inode{}
	server, err := fs.Mount(dir, root, &fs.Options{
		MountOptions: fuse.MountOptions{FsName: label, Name: name, DirectMount: os.Geteuid() == 0},
		OnAdd: func(ctx context.Context) {
			f := root.NewPersistentInode(ctx, &fs.MemRegularFile{Data: []byte("content")}, fs.StableAttr{})
			root.AddChild("f", f, false)
		},
	})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("ready")
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server.Wait()
	os.Exit(0)
}

// A process is another process that uses or serves a mount.
type process struct {
	t     *testing.T
	cmd   *exec.Cmd
	input io.Closer
}

// run starts a process and waits until it prints "ready".
func run(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t, cmd, input}
	t.Cleanup(p.kill)
	if line, err := bufio.NewReader(output).ReadString('\n'); line != "ready\n" {
		t.Fatalf("%s: %q, %v", cmd, line, err)
	}
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// mount mounts a file system of type "fuse.NAME" on a directory, served by another process.
func mount(t *testing.T, dir, name string) *process {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "MOUNTPOINT_TEST_SERVE="+dir, "MOUNTPOINT_TEST_NAME="+name)
	server := run(t, cmd)
	t.Cleanup(func() {
		server.kill()
		for mounted(t, dir) {
			if unix.Unmount(dir, unix.MNT_DETACH) != nil {
				if out, err := exec.Command("fusermount3", "-u", "-z", dir).CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
		}
	})
	return server
}

func sessions(t *testing.T) (string, *process) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "m n\\t")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir, mount(t, dir, "domarkx")
}

func mounted(t *testing.T, dir string) bool {
	t.Helper()
	all, err := mountpoint.Mounts()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		if m.Dir == dir {
			return true
		}
	}
	return false
}

// user starts a process that runs a script in a shell and then waits.
func user(t *testing.T, script string) *process {
	t.Helper()
	return run(t, exec.Command("sh", "-c", script+"; echo ready; read x"))
}

func TestSourceOf(t *testing.T) {
	dir, server := sessions(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.Symlink(dir, link), os.Symlink("loop", filepath.Join(filepath.Dir(link), "loop"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(dir))
	check := func(when string) {
		t.Helper()
		for path, want := range map[string]bool{
			dir: true, dir + "/": true, "./m n\\t": true, link: true, filepath.Dir(dir): false, filepath.Join(filepath.Dir(link), "loop"): false, "/nonexistent/x": false,
		} {
			source, ok := mountpoint.SourceOf(path)
			if ok != want || ok && source != label {
				t.Errorf("%s: %q: %q, %v", when, path, source, ok)
			}
		}
		if resolved, err := mountpoint.Resolve(link); resolved != dir || err != nil {
			t.Errorf("%s: %q, %v", when, resolved, err)
		}
	}
	check("served")
	server.signal(syscall.SIGSTOP)
	check("stopped") // a request to the server would block
	server.kill()
	check("dead")
	if _, err := mountpoint.Resolve(filepath.Join(filepath.Dir(link), "loop")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a loop of links: %v", err)
	}
}

func TestRecover(t *testing.T) {
	if err := mountpoint.Recover(t.Context(), t.TempDir()); err != nil {
		t.Errorf("a directory without a mount: %v", err)
	}
	dir, first := sessions(t)
	if err := mountpoint.Recover(t.Context(), dir); !errors.Is(err, domarkx.ErrExists) || !strings.Contains(err.Error(), "fuse.domarkx is mounted there") {
		t.Errorf("a served mount: %v", err)
	}
	first.kill()
	for range 2 {
		if err := mountpoint.Recover(t.Context(), dir); err != nil || mounted(t, dir) {
			t.Errorf("a dead mount: %v, mounted %v", err, mounted(t, dir))
		}
		mount(t, dir, "domarkx").kill()
	}
	if err := mountpoint.Recover(t.Context(), dir); err != nil {
		t.Error(err)
	}
	other := mount(t, dir, "other")
	if err := mountpoint.Recover(t.Context(), dir); !errors.Is(err, domarkx.ErrExists) || !strings.Contains(err.Error(), "fuse.other") {
		t.Errorf("a mount of another kind: %v", err)
	}
	other.kill()
	if err := mountpoint.Recover(t.Context(), dir); !errors.Is(err, domarkx.ErrExists) || !strings.Contains(err.Error(), "a dead fuse.other is mounted there; unmount it first") || !mounted(t, dir) {
		t.Errorf("a dead mount of another kind: %v", err)
	}
}

func TestBusy(t *testing.T) {
	dir, _ := sessions(t)
	if users, err := mountpoint.Busy(dir); len(users) > 0 || err != nil {
		t.Errorf("nobody uses it: %v, %v", users, err)
	}
	p := user(t, "cd '"+dir+"'; exec 3<f 4<f")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link} {
		users, err := mountpoint.Busy(path)
		if err != nil || len(users) != 1 || users[0].PID != p.cmd.Process.Pid || strings.Join(users[0].Uses, "; ") != "open file f; working directory" ||
			!strings.HasPrefix(users[0].Command, "sh -c cd ") || len([]rune(users[0].Command)) > 80 {
			t.Errorf("%+v, %v", users, err)
		}
	}
	if users, err := mountpoint.Busy(filepath.Dir(dir) + "/m n"); len(users) > 0 || err != nil {
		t.Errorf("a directory whose name is a prefix: %v, %v", users, err)
	}
	p.input.Close()
	_ = p.cmd.Wait()
	if users, err := mountpoint.Busy(dir); len(users) > 0 || err != nil {
		t.Errorf("after its end: %v, %v", users, err)
	}
}

// TestUsesAreBounded checks a process with many open files and control characters in its command line.
func TestUsesAreBounded(t *testing.T) {
	dir := t.TempDir()
	var script strings.Builder
	for fd := 3; fd < 10; fd++ {
		fmt.Fprintf(&script, "exec %d>'%s/%d'; ", fd, dir, fd)
	}
	fmt.Fprintf(&script, "mkdir '%s/d' && cd '%s/d' && exec 2>../2 && exec 0<&0 && printf '\033[31m' >/dev/null", dir, dir)
	p := user(t, script.String())
	users, err := mountpoint.Busy(dir)
	if err != nil || len(users) != 1 || users[0].PID != p.cmd.Process.Pid || len(users[0].Uses) != 8 {
		t.Fatalf("%+v, %v", users, err)
	}
	if strings.ContainsAny(users[0].Command, "\x1b\n\x00") {
		t.Errorf("command line %q", users[0].Command)
	}
}

func TestBusyError(t *testing.T) {
	for want, e := range map[string]*mountpoint.BusyError{
		`"/m" is in use, by a process that this user cannot see`: {Dir: "/m"},
		"\"/m\" is in use\n  process 7 (vim a): open file sessions/a.md, working directory\n  process 8 (sh): program": {Dir: "/m", Users: []mountpoint.User{
			{PID: 7, Command: "vim a", Uses: []string{"open file sessions/a.md", "working directory"}}, {PID: 8, Command: "sh", Uses: []string{"program"}}}},
	} {
		if got := e.Error(); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestUnmount(t *testing.T) {
	dir, server := sessions(t)
	p := user(t, "exec 3<'"+dir+"/f'")
	var busy *mountpoint.BusyError
	err := mountpoint.Unmount(t.Context(), dir)
	if !errors.As(err, &busy) || busy.Dir != dir || len(busy.Users) != 1 || busy.Users[0].PID != p.cmd.Process.Pid || !mounted(t, dir) {
		t.Errorf("in use: %v, mounted %v", err, mounted(t, dir))
	}
	if data, err := os.ReadFile(filepath.Join(dir, "f")); string(data) != "content" || err != nil {
		t.Errorf("after that: %q, %v", data, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := mountpoint.Unmount(ended, dir); !errors.Is(err, context.Canceled) || !mounted(t, dir) {
		t.Errorf("in use, with a context that ended: %v, mounted %v", err, mounted(t, dir))
	}
	p.kill()
	if err := mountpoint.Unmount(t.Context(), dir); err != nil || mounted(t, dir) {
		t.Errorf("%v, mounted %v", err, mounted(t, dir))
	}
	_ = server.cmd.Wait() // it ends with its mount
	if err := mountpoint.Unmount(t.Context(), dir); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no mount: %v", err)
	}
	other := t.TempDir()
	mount(t, other, "other")
	if err := mountpoint.Unmount(t.Context(), other); !errors.Is(err, domarkx.ErrNotFound) || !mounted(t, other) {
		t.Errorf("a mount of another kind: %v, mounted %v", err, mounted(t, other))
	}
	mount(t, dir, "domarkx").kill()
	if err := mountpoint.Unmount(t.Context(), dir); err != nil {
		t.Errorf("a dead mount: %v", err)
	}
	if source, ok := mountpoint.SourceOf(dir); ok {
		t.Errorf("%q is mounted still", source)
	}
}

// TestUnmountBoth unmounts sessions whose workspaces are mounted beside them.
func TestUnmountBoth(t *testing.T) {
	dir, _ := sessions(t)
	beside, _ := sessions(t)
	p := user(t, "cd '"+beside+"'")
	var busy *mountpoint.BusyError
	if err := mountpoint.UnmountBoth(t.Context(), dir, beside); !errors.As(err, &busy) || len(busy.Users) != 1 || busy.Users[0].Uses[0] != "working directory workspaces" {
		t.Errorf("workspaces in use: %v", err)
	}
	if !mounted(t, dir) || !mounted(t, beside) {
		t.Error("one of them was unmounted")
	}
	p.kill()
	if err := mountpoint.UnmountBoth(t.Context(), dir, beside); err != nil || mounted(t, dir) || mounted(t, beside) {
		t.Errorf("%v, mounted: %v, %v", err, mounted(t, dir), mounted(t, beside))
	}
}

// TestDetach detaches mounts in use, whatever their servers do.
func TestDetach(t *testing.T) {
	for name, signal := range map[string]os.Signal{"served": syscall.SIGCONT, "stopped": syscall.SIGSTOP, "dead": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			dir, server := sessions(t)
			beside, second := sessions(t)
			user(t, "cd '"+dir+"'; exec 3<f")
			server.signal(signal)
			second.signal(signal)
			if err := mountpoint.Detach(t.Context(), dir, beside); err != nil || mounted(t, dir) || mounted(t, beside) {
				t.Errorf("%v, mounted: %v, %v", err, mounted(t, dir), mounted(t, beside))
			}
			if err := mountpoint.Detach(t.Context(), dir, ""); !errors.Is(err, domarkx.ErrNotFound) {
				t.Errorf("again: %v", err)
			}
		})
	}
	dir := t.TempDir()
	mount(t, dir, "other")
	if err := mountpoint.Detach(t.Context(), dir, ""); !errors.Is(err, domarkx.ErrNotFound) || !mounted(t, dir) {
		t.Errorf("a mount of another kind: %v, mounted %v", err, mounted(t, dir))
	}
}

// TestUnmountLazily checks that a program with an open file reads on, while the directory is free.
func TestUnmountLazily(t *testing.T) {
	if err := mountpoint.UnmountLazily(t.TempDir()); err != nil {
		t.Errorf("no mount: %v", err)
	}
	dir, _ := sessions(t)
	f, err := os.Open(filepath.Join(dir, "f"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := mountpoint.UnmountLazily(dir); err != nil || mounted(t, dir) {
		t.Errorf("%v, mounted %v", err, mounted(t, dir))
	}
	if data, err := io.ReadAll(f); string(data) != "content" || err != nil {
		t.Errorf("the open file: %q, %v", data, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "own"), nil, 0o600); err != nil {
		t.Errorf("the directory: %v", err)
	}
}

// TestKeepConnections checks that programs started later do not inherit the connection of a mount.
func TestKeepConnections(t *testing.T) {
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	other, err := unix.Open("/dev/null", unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(other)
	if err := mountpoint.KeepConnections(); err != nil {
		t.Fatal(err)
	}
	for fd, want := range map[int]int{fd: unix.FD_CLOEXEC, other: 0} {
		if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); flags != want || err != nil {
			t.Errorf("flags %d, %v, expected %d", flags, err, want)
		}
	}
}
