//go:build unix

package zeus

import (
	"os"
	"syscall"
)

// isOwnSocket reports whether path is a socket that this user owns. In a world-writable
// directory, anybody can create one.
func isOwnSocket(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != os.ModeSocket {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
