//go:build unix

package recording

import (
	"io/fs"
	"os"
	"os/exec"
	"syscall"
)

// detach lets a command outlive the terminal from which it was started.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// isOwn reports whether a file belongs to this user.
func isOwn(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
