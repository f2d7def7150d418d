//go:build linux

package localshell_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	localshell "github.com/domarkx/domarkx/plugins/local_shell"
	"golang.org/x/sys/unix"
)

// connect runs instead of the tests: it connects to a socket and exits with 0 on success.
func connect(socket string) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	conn.Close()
	fmt.Println("connected")
	os.Exit(0)
}

// connecting returns a shell command that connects to a socket.
func connecting(t *testing.T, socket string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("LOCALSHELL_TEST_CONNECT='%s' '%s'", socket, program)
}

func listen(t *testing.T, socket string) {
	t.Helper()
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}

// makeDir creates a directory that is removed after the test. The paths of t.TempDir are too long for
// sockets.
func makeDir(t *testing.T, parent, pattern string) string {
	t.Helper()
	dir, err := os.MkdirTemp(parent, pattern)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestSockets connects to sockets that were bound before the command started.
func TestSockets(t *testing.T) {
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	top := makeDir(t, "", "s")
	if err := os.Mkdir(filepath.Join(top, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(makeDir(t, "/tmp", "s"), "a /b")
	if err := os.MkdirAll(filepath.Dir(odd), 0o700); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(makeDir(t, "/tmp", "s"), "link")
	if err := os.Symlink(makeDir(t, "/tmp", "s"), linked); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		socket    string
		reachable bool
	}{
		"in /tmp":               {filepath.Join(makeDir(t, "/tmp", "s"), "s"), false},
		"in the home directory": {filepath.Join(makeDir(t, home, ".s"), "s"), false},
		"with an odd name":      {odd, false},
		"through a link":        {filepath.Join(linked, "s"), false},
		"in the Git directory":  {filepath.Join(top, ".git", "s"), false},
		"in the directory":      {filepath.Join(top, "s"), true},
	} {
		t.Run(name, func(t *testing.T) {
			listen(t, c.socket)
			for _, sandboxed := range []bool{true, false} {
				r, err := localshell.New().Open(t.Context(), domarkx.Env{
					Dir: t.TempDir(), WorkTree: top, Forbidden: []string{filepath.Join(top, ".git")}, Allow: domarkx.Allow{Unsandboxed: !sandboxed},
					Config: jsonvalue.ObjectValue().With("path", jsonvalue.StringValue(".")), Warn: func(m string) { t.Log(m) },
				})
				if err != nil {
					t.Fatal(err)
				}
				defer r.TearDown(context.Background())
				code, out := run(t, r, connecting(t, c.socket))
				if reached := code == 0; reached != (c.reachable || !sandboxed) {
					t.Errorf("sandboxed: %v, connected: %v: %s", sandboxed, reached, out)
				}
			}
		})
	}
}

// TestSocketsBoundLater connects to sockets that were bound while the command ran, in the
// directories where programs bind them.
func TestSocketsBoundLater(t *testing.T) {
	runtime, agent, tmux := makeDir(t, "/tmp", "s"), makeDir(t, "/tmp", "s"), makeDir(t, "/tmp", "s")
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(agent, "agent"))
	t.Setenv("TMUX_TMPDIR", tmux)
	listen(t, filepath.Join(agent, "agent"))
	servers := filepath.Join(tmux, fmt.Sprintf("tmux-%d", os.Getuid()))
	if err := os.Mkdir(servers, 0o700); err != nil {
		t.Fatal(err)
	}
	r, path := open(t, domarkx.Allow{})
	sockets := []string{filepath.Join(runtime, "later"), filepath.Join(agent, "later"), filepath.Join(servers, "later")}
	command := "touch began; while [ ! -e bound ]; do sleep 0.01; done"
	for _, socket := range sockets {
		command += "; " + connecting(t, socket)
	}
	type result struct {
		domarkx.Result
		err error
	}
	ended := make(chan result, 1)
	go func() {
		got, err := r.Execute(t.Context(), call("run_command", "command", command))
		ended <- result{got, err}
	}()
	waitFor(t, "the command", func() bool { _, err := os.Stat(filepath.Join(path, "began")); return err == nil })
	for _, socket := range sockets {
		listen(t, socket)
	}
	if err := os.WriteFile(filepath.Join(path, "bound"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	got := <-ended
	if got.err != nil {
		t.Fatal(got.err)
	}
	out := member(got.Result, "output")
	if strings.Contains(out, "connected") || strings.Count(out, "\n") != len(sockets) {
		t.Errorf("a command reaches sockets: %s", out)
	}
}

// TestNameServices checks that a command can connect to services that look up hosts and users.
func TestNameServices(t *testing.T) {
	service := filepath.Join(makeDir(t, "/tmp", "s"), "s")
	localshell.SetNameServices(t, service, "/nowhere/s")
	listen(t, service)
	r, _ := open(t, domarkx.Allow{})
	if code, out := run(t, r, connecting(t, service)); code != 0 {
		t.Error(out)
	}
}

// TestNeededDirectories sets the variables to directories that a command must see.
func TestNeededDirectories(t *testing.T) {
	tools, mixed := makeDir(t, "/tmp", "s"), makeDir(t, "/tmp", "s")
	for _, dir := range []string{tools, mixed} {
		if err := os.WriteFile(filepath.Join(dir, "tool"), []byte("#!/bin/sh\necho here\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		listen(t, filepath.Join(dir, "s"))
	}
	t.Setenv("XDG_RUNTIME_DIR", filepath.Dir(tools))
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(mixed, "s"))
	r, _ := open(t, domarkx.Allow{})
	if code, out := run(t, r, "tool && "+mixed+"/tool"); code != 0 || out != "here\nhere\n" {
		t.Errorf("exit code %d: %s", code, out)
	}
	for _, dir := range []string{tools, mixed} {
		if code, out := run(t, r, connecting(t, filepath.Join(dir, "s"))); code == 0 {
			t.Errorf("%s: %s", dir, out)
		}
	}
}

// TestPathOfADocument sets PATH in the config, which shows no directory that is hidden otherwise.
func TestPathOfADocument(t *testing.T) {
	runtime := makeDir(t, "/tmp", "s")
	listen(t, filepath.Join(runtime, "socket"))
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	path := jsonvalue.ObjectValue().With("PATH", jsonvalue.StringValue(runtime+":"+os.Getenv("PATH")))
	r, err := localshell.New().Open(t.Context(), domarkx.Env{Dir: t.TempDir(), Config: jsonvalue.ObjectValue().With("env", path)})
	if err != nil {
		t.Fatal(err)
	}
	defer r.TearDown(t.Context())
	if code, out := run(t, r, "ls "+runtime); code != 0 || out != "" {
		t.Errorf("exit code %d: %s", code, out)
	}
}

// TestAbstractSocket connects to an abstract socket, which has a name but no path.
func TestAbstractSocket(t *testing.T) {
	const versionFlag, scopes = 1, 6
	if abi, _, _ := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, versionFlag); int(abi) < scopes {
		t.Skipf("ABSTRACT SOCKETS ARE OPEN TO COMMANDS ON THIS KERNEL: its Landlock has ABI %d and needs %d", int(abi), scopes)
	}
	socket := fmt.Sprintf("@domarkx-test-%d", os.Getpid())
	listen(t, socket)
	for _, sandboxed := range []bool{true, false} {
		r, _ := open(t, domarkx.Allow{Unsandboxed: !sandboxed})
		if code, out := run(t, r, connecting(t, socket)); (code == 0) == sandboxed {
			t.Errorf("sandboxed: %v: exit code %d: %s", sandboxed, code, out)
		}
	}
}

// TestTmux tries to run a command in a tmux server outside.
func TestTmux(t *testing.T) {
	dir := makeDir(t, "/tmp", "s")
	t.Setenv("TMUX_TMPDIR", dir)
	t.Setenv("SHELL", "/bin/sh")
	server := func(args ...string) *exec.Cmd {
		return exec.Command("tmux", append([]string{"-L", "test"}, args...)...)
	}
	if out, err := server("-f", "/dev/null", "new-session", "-d").CombinedOutput(); err != nil {
		t.Fatalf("starting a tmux server: %v\n%s", err, out)
	}
	t.Cleanup(func() { server("kill-server").Run() })
	socket := filepath.Join(dir, fmt.Sprintf("tmux-%d", os.Getuid()), "test")
	t.Setenv("TMUX", socket+",1,0")
	for _, sandboxed := range []bool{true, false} {
		r, _ := open(t, domarkx.Allow{Unsandboxed: !sandboxed})
		made := filepath.Join(dir, "made")
		code, out := run(t, r, "tmux -S "+socket+" run-shell 'touch "+made+"'")
		if _, err := os.Stat(made); (code == 0) == sandboxed || (err == nil) == sandboxed {
			t.Errorf("sandboxed: %v: exit code %d, the file: %v: %s", sandboxed, code, err, out)
		}
	}
}

// TestServersAreNotNamed checks that a command's environment names no server of the user.
func TestServersAreNotNamed(t *testing.T) {
	names := []string{"SSH_AUTH_SOCK", "TMUX", "DOCKER_HOST", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR"}
	for _, name := range names {
		t.Setenv(name, "/nowhere/"+name)
	}
	for _, allow := range []domarkx.Allow{{}, {Unsandboxed: true}} {
		r, _ := open(t, allow)
		if code, out := run(t, r, "! env | grep -E '^("+strings.Join(names, "|")+")='"); code != 0 {
			t.Errorf("%s", out)
		}
	}
}
