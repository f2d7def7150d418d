//go:build unix

package background

import (
	"os/exec"
	"syscall"
)

// Detach lets a command outlive the terminal from which it was started.
func Detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
