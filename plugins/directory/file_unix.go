//go:build unix

package directory

import (
	"io/fs"
	"syscall"
)

// nonblock keeps the opening of a FIFO from waiting.
const nonblock = syscall.O_NONBLOCK

// keepsInode reports whether a file has several names.
func keepsInode(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
