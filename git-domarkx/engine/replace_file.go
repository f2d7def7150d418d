package engine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// replaceFile is durable.Replace for a file whose folder need not be there: it is made,
// private to the user.
func replaceFile(path string, data []byte) error {
	dir := filepath.Dir(path)
	_, err := os.Stat(dir)
	isNew := errors.Is(err, fs.ErrNotExist)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if err := atomicfile.Replace(path, data); err != nil || !isNew {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(dir))
}
