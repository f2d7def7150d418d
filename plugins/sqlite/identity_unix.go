//go:build linux || darwin || freebsd

package sqlite

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity returns properties of a file from stat(2), for [stamp]. When the file changes, at least one of them changes.
func identity(info fs.FileInfo) string {
	s := info.Sys().(*syscall.Stat_t)
	return fmt.Sprintf("%d %d %d", s.Ino, info.ModTime().UnixNano(), changeTime(s))
}
