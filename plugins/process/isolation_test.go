//go:build linux

package process_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/domarkx/domarkx/plugins/process"
	"golang.org/x/sys/unix"
)

// confined returns a function that runs a script in a directory and returns its exit code and output.
func confined(t *testing.T, r *process.Runner, c process.Command) func(script string) (int, string) {
	return func(script string) (int, string) {
		t.Helper()
		c.Program, c.Args, c.Env, c.Confined = "/bin/sh", []string{"sh", "-c", script}, []string{"PATH=/usr/bin:/bin"}, true
		var out bytes.Buffer
		status, err := r.Run(t.Context(), c, &out)
		if err != nil {
			t.Fatalf("%s: %v", script, err)
		}
		return status.ExitCode, out.String()
	}
}

// TestHidden hides a directory in which the command works, as the state of a repository is.
func TestHidden(t *testing.T) {
	state, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	own, lock, beside := filepath.Join(state, "workspaces/w/own"), filepath.Join(state, "lock"), filepath.Join(state, "workspaces/w/other")
	for _, dir := range []string{own, beside} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(lock, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := process.NewRunner(true)
	run := confined(t, r, process.Command{Dir: own, Writable: []string{own}, Hidden: []string{state, filepath.Join(state, "missing")}})
	if code, out := run("echo x >kept && cat " + own + "/kept && ls -A .. ../../.."); code != 0 || out != "x\n..:\nown\n\n../../..:\nworkspaces\n" {
		t.Errorf("in its own directory: exit %d, %q", code, out)
	}
	if _, err := os.Stat(filepath.Join(own, "kept")); err != nil {
		t.Error(err)
	}
	scripts := []string{"cat " + lock, "flock -n " + lock + " true", "ls " + beside, "echo x >" + state + "/new", "mkdir ../new",
		"umount " + state, "unshare -Urm umount " + state + " && cat " + lock}
	if code, out := run(inOne(scripts)); code != 0 || strings.Contains(out, ">\n") || strings.Contains(out, "secret") {
		t.Errorf("exit %d; of %q were allowed: %q", code, scripts, out)
	}
	if !r.HasNamespaces() {
		t.Fatal("no namespaces")
	}
	if data, err := os.ReadFile(lock); string(data) != "secret" || err != nil {
		t.Errorf("outside: %q, %v", data, err)
	}
}

// TestSharedMemoryEndsWithTheCommand makes segments, semaphores and queues, which outlive processes.
func TestSharedMemoryEndsWithTheCommand(t *testing.T) {
	dir := t.TempDir()
	run := confined(t, process.NewRunner(true), process.Command{Dir: dir, Writable: []string{dir}})
	code, out := run("ipcmk -M 4096 && ipcmk -Q && ipcmk -S 1 && ipcs")
	keys := regexp.MustCompile(`(?m)^0x[0-9a-f]{8}`).FindAllString(out, -1)
	if code != 0 || len(keys) != 3 {
		t.Errorf("exit %d, %q", code, out)
	}
	left, err := exec.Command("ipcs").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys { // other programs have others
		if strings.Contains(string(left), key) {
			t.Errorf("left behind:\n%s", left)
		}
	}
}

// TestKeys uses the keyrings of the kernel, in which a key outlives the command.
func TestKeys(t *testing.T) {
	if os.Getenv("PROCESS_TEST_KEYS") != "" { // as the command
		fmt.Println(useKeys())
		os.Exit(0)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	eachRunner(t, func(t *testing.T, r *process.Runner) {
		dir := t.TempDir()
		run := confined(t, r, process.Command{Dir: dir, Writable: []string{dir}})
		if code, out := run("PROCESS_TEST_KEYS=1 " + self + " -test.run='^TestKeys$'"); code != 0 || out != "add_key EPERM, request_key EPERM, keyctl EPERM\n" {
			t.Errorf("exit %d, %q", code, out)
		}
	})
}

// useKeys makes the calls of the kernel's keyrings and returns their errors.
func useKeys() string {
	_, added := unix.AddKey("user", "domarkx-test", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
	_, requested := unix.RequestKey("user", "domarkx-test", "", unix.KEY_SPEC_PROCESS_KEYRING)
	_, asked := unix.KeyctlGetKeyringID(unix.KEY_SPEC_USER_KEYRING, false)
	name := func(err error) string {
		var errno syscall.Errno
		errors.As(err, &errno)
		return unix.ErrnoName(errno)
	}
	return "add_key " + name(added) + ", request_key " + name(requested) + ", keyctl " + name(asked)
}
