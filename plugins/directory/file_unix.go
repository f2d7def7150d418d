//go:build unix

package directory

import (
	"io/fs"
	"syscall"
)

// nonblock makes opening a FIFO return at once.
const nonblock = syscall.O_NONBLOCK

// keepsInode reports whether a file has several hard links.
func keepsInode(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
