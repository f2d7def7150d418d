//go:build !linux && !darwin && !freebsd

package sqlite

import (
	"io/fs"
	"strconv"
)

// identity returns properties of a file that change when the file changes.
func identity(info fs.FileInfo) string { return strconv.FormatInt(info.ModTime().UnixNano(), 10) }
