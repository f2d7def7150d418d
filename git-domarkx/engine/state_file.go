package engine

import (
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// replaceFile is [atomicfile.Replace] for a file whose folder may be missing. It makes the
// folder, private to the user.
func replaceFile(path string, data []byte) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(path, data)
}
