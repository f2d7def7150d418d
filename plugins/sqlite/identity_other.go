//go:build !linux && !darwin && !freebsd

package sqlite

import (
	"io/fs"
	"strconv"
)

// identity is what is known of a file that changes with it.
func identity(info fs.FileInfo) string { return strconv.FormatInt(info.ModTime().UnixNano(), 10) }
