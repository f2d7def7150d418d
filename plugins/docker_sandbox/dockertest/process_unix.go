//go:build unix

package dockertest

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// terminate asks a process to end, one of root's too.
func terminate(p *os.Process) error {
	if os.Getuid() == 0 {
		return p.Signal(syscall.SIGTERM)
	}
	return exec.Command("sudo", "-n", "kill", strconv.Itoa(p.Pid)).Run()
}
