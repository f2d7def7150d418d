//go:build unix

package dockertest

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// terminate sends SIGTERM to a process, also to one of root.
func terminate(p *os.Process) error {
	if os.Getuid() == 0 {
		return p.Signal(syscall.SIGTERM)
	}
	return exec.Command("sudo", "-n", "kill", strconv.Itoa(p.Pid)).Run()
}
