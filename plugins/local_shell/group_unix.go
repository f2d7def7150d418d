//go:build unix && !linux

package localshell

import (
	"os/exec"
	"syscall"
)

var systemVariables []string

func group(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
