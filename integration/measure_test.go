package integration_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// measureVariable makes the test program run the command in its arguments and write the
// resources that it used to the file that the variable names.
const measureVariable = "GIT_DOMARKX_TEST_MEASURE"

// A usage is the resources that a command used.
type usage struct {
	CPU  time.Duration // including its children
	Peak int64         // bytes of memory
}

// measure runs a command and reports its usage, when measureVariable is set. Linux counts
// the memory of the process that starts a command as the command's own, so a small
// process must start it, not the one that runs the tests.
func measure(report string) int {
	if err := os.Unsetenv(measureVariable); err != nil {
		return 2
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	u := usage{CPU: cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}
	if used, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		u.Peak = int64(used.Maxrss) << 10
	}
	data, err := json.Marshal(u)
	if err == nil {
		err = os.WriteFile(report, data, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// used runs a program and returns its CPU time and its peak memory in bytes.
func (s *site) used(name string, args ...string) (time.Duration, int64) {
	s.tb.Helper()
	self, err := os.Executable()
	if err != nil {
		s.tb.Fatal(err)
	}
	report := s.path("used.json")
	cmd := s.command(s.tb.Context(), self, append([]string{name}, args...)...)
	cmd.Env = append(cmd.Env, measureVariable+"="+report)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.tb.Fatalf("%s: %v: %s", name, err, out)
	}
	data, err := os.ReadFile(report)
	if err != nil {
		s.tb.Fatal(err)
	}
	var u usage
	if err := json.Unmarshal(data, &u); err != nil {
		s.tb.Fatal(err)
	}
	return u.CPU, u.Peak
}
