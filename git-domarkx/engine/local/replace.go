package local

import (
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// Replace is like [atomicfile.Replace], but first creates a missing directory, private to the
// user.
func Replace(path string, data []byte) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, data)
}
