package integration_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// run runs a program, and git-domarkx where git would start just that: it makes "git help" of --help. If it hangs, all that the script has started is ended.
func run(ts *testscript.TestScript, program string, args ...string) error {
	if program == "git" && len(args) > 1 && args[0] == "domarkx" && args[1] != "--help" {
		program, args = "git-domarkx", args[1:]
	}
	var hung atomic.Bool
	work := "WORK=" + ts.Getenv("WORK")
	timer := time.AfterFunc(maxRun, func() {
		hung.Store(true)
		for signal, until := syscall.SIGTERM, time.Now().Add(5*time.Second); signalAll(work, signal); time.Sleep(50 * time.Millisecond) {
			if time.Now().After(until) {
				signal = syscall.SIGKILL
			}
		}
	})
	err := ts.Exec(program, args...)
	timer.Stop()
	if hung.Load() {
		ts.Fatalf("%s %q did not end within %v: %v", program, args, maxRun, err)
	}
	return err
}

// shell runs a shell script in a process group of its own, as an interactive shell would: the mount knows by the group which
// version a save is based on.
func shell(ts *testscript.TestScript, args []string) error {
	return run(ts, "setsid", append([]string{"--wait", "sh", "-euc", args[0], "sh"}, args[1:]...)...)
}

// signalAll sends a signal to all processes that have this in their environment, and reports whether there are any.
func signalAll(variable string, signal syscall.Signal) (any bool) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		environ, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(append([]byte{0}, environ...), []byte("\x00"+variable+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil {
			any = syscall.Kill(pid, signal) == nil || any
		}
	}
	return any
}
