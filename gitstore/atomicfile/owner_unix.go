//go:build unix

package atomicfile

import (
	"io/fs"
	"os"
	"syscall"
)

// IsOurs reports whether a file belongs to this user.
func IsOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
