//go:build unix

package agents

import (
	"os"
	"os/exec"
	"syscall"
)

// detach lets a program outlive this one and its terminal.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// isOwnSocket reports whether there is a socket of this user's. Anybody can make one
// in a folder that all may write to.
func isOwnSocket(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
