package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/domarkx/domarkx/plugins/docker_sandbox/agent"
	"golang.org/x/sys/unix"
)

// These variables make the test binary the first process of a container.
const (
	rootVariable     = "AGENT_TEST_ROOT"     // root directory
	confinedVariable = "AGENT_TEST_CONFINED" // set in the second stage, see confine
)

func TestMain(m *testing.M) {
	root := os.Getenv(rootVariable)
	if root == "" && os.Geteuid() != 0 && !slices.ContainsFunc(os.Args, func(a string) bool { return strings.HasPrefix(a, "-test.fuzz") }) {
		runAsRoot()
	}
	if root == "" {
		os.Exit(m.Run())
	}
	var err error
	if os.Getenv(confinedVariable) == "" {
		err = confine()
	} else if err = enter(root); err == nil {
		err = agent.Serve(os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// runAsRoot runs all tests as root and exits, if sudo allows that without a password.
func runAsRoot() {
	if exec.Command("sudo", "-n", "true").Run() != nil {
		return
	}
	program, err := os.Executable()
	if err != nil {
		return
	}
	cmd := exec.Command("sudo", append([]string{"-n", "env", "CI=" + os.Getenv("CI"), program}, os.Args[1:]...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	_ = cmd.Run()
	os.Exit(cmd.ProcessState.ExitCode())
}

// confine runs the test binary again without the capability to trace other processes, which
// containers do not have either. Capabilities belong to a thread until it executes a program.
func confine() error {
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_PTRACE, 0, 0, 0); err != nil {
		return err
	}
	return unix.Exec("/proc/self/exe", os.Args, append(os.Environ(), confinedVariable+"=1"))
}

// enter makes root the root directory of this process, with a few mounts.
func enter(root string) error {
	for _, m := range []struct {
		source, target, kind string
		flags                uintptr
	}{
		{"", "/", "", unix.MS_REC | unix.MS_PRIVATE},
		{"proc", filepath.Join(root, "proc"), "proc", 0},
		{"/dev/null", filepath.Join(root, "dev/null"), "", unix.MS_BIND},
		{"tmpfs", filepath.Join(root, "a mount"), "tmpfs", 0},
	} {
		if err := unix.Mount(m.source, m.target, m.kind, m.flags, ""); err != nil {
			return fmt.Errorf("mount %q: %w", m.target, err)
		}
	}
	if err := unix.Chroot(root); err != nil {
		return fmt.Errorf("chroot %q: %w", root, err)
	}
	return os.Chdir("/")
}

// A container is an agent that runs as process 1 of its own namespaces, with busybox.
type container struct {
	*agent.Client
	t     *testing.T
	root  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
}

// start starts a container. It is stopped at the end of the test.
func start(t *testing.T, keep ...string) *container {
	t.Helper()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") != "" {
			t.Fatal("this test needs root, or sudo without a password")
		}
		t.Skip("only root, or a user with sudo, can start a container")
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal("this test needs a static busybox: apt-get install busybox-static")
	}
	c := &container{t: t, root: t.TempDir()}
	c.write("etc/passwd", "root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n")
	c.write("etc/group", "root:x:0:\nann:x:1000:\nstaff:x:50:ann\n")
	c.write("dev/null", "")
	for _, dir := range []string{"proc", "a mount", "tmp"} {
		if err := os.Mkdir(filepath.Join(c.root, dir), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(busybox)
	if err != nil {
		t.Fatal(err)
	}
	c.write("bin/busybox", string(data))
	for _, name := range []string{"sh", "cat", "env", "id", "pwd", "sleep", "setsid", "mkdir", "touch", "kill", "test"} {
		if err := os.Symlink("busybox", filepath.Join(c.root, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	c.cmd = exec.Command("/proc/self/exe")
	c.cmd.Env = []string{rootVariable + "=" + c.root}
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS, Pdeathsig: unix.SIGKILL}
	var stderr bytes.Buffer
	c.cmd.Stderr = &stderr
	stdout, err := c.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.stdin.Close()
		if err := c.cmd.Wait(); err != nil || stderr.Len() > 0 {
			t.Errorf("the agent ended with %v: %s", err, stderr.Bytes())
		}
	})
	c.Client = agent.NewClient(stdout, c.stdin)
	if err := c.Hello(keep); err != nil {
		t.Fatal(err, stderr.String())
	}
	return c
}

// write writes an executable file in the container from outside.
func (c *container) write(path, content string) {
	c.t.Helper()
	file := filepath.Join(c.root, path)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o755)); err != nil {
		c.t.Fatal(err)
	}
}

// sh runs a script in the container and returns its exit code and output.
func (c *container) sh(script string) (int, string) {
	c.t.Helper()
	var out bytes.Buffer
	code, err := c.Run(context.Background(), agent.Command{Args: []string{"sh", "-c", script}}, &out)
	if err != nil {
		c.t.Fatalf("%s: %v", script, err)
	}
	return code, out.String()
}

// detach starts a script in the background.
func (c *container) detach(script string) {
	c.t.Helper()
	if code, err := c.Run(context.Background(), agent.Command{Args: []string{"sh", "-c", script}, Detached: true}, nil); code != 0 || err != nil {
		c.t.Fatalf("%s: %d, %v", script, code, err)
	}
}

// processes returns the number of processes of the container that are not the agent.
func (c *container) processes() int {
	c.t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/root")
	if err != nil {
		c.t.Fatal(err)
	}
	n := 0
	for _, link := range links {
		if root, err := os.Readlink(link); err == nil && root == c.root && link != fmt.Sprintf("/proc/%d/root", c.cmd.Process.Pid) {
			n++
		}
	}
	return n
}

// eventually polls until ok returns true, and fails the test after 30 s.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after 30 s: %s", what)
		}
	}
}
