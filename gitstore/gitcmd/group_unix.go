//go:build unix

package gitcmd

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate makes the end of the command's context stop git: with SIGTERM first, so that it removes
// its lock files. With group, its children are stopped too.
func isolate(cmd *exec.Cmd, group bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: group}
	cmd.Cancel = func() error {
		pid := cmd.Process.Pid
		if group {
			pid = -pid
		}
		if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && err != syscall.ESRCH {
			return err
		}
		return os.ErrProcessDone // the exit status contains the result
	}
}
