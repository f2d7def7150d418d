//go:build !linux && !darwin && !freebsd

package sqlite

import (
	"io/fs"
	"strconv"
)

// identity returns the modification time of a file, for [stamp].
func identity(info fs.FileInfo) string { return strconv.FormatInt(info.ModTime().UnixNano(), 10) }
