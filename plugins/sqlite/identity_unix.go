//go:build linux || darwin || freebsd

package sqlite

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity is what stat(2) tells of a file that changes with it.
func identity(info fs.FileInfo) string {
	s := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d %d %d", s.Ino, info.ModTime().UnixNano(), changeTime(s))
}
