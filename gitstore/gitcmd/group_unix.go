//go:build unix

package gitcmd

import (
	"os"
	"os/exec"
	"syscall"
)

// isolate makes the end of the command's context end git: first politely, so that
// it removes its lock files. With group it takes its children along.
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
		return os.ErrProcessDone // the exit status says what came of it
	}
}
