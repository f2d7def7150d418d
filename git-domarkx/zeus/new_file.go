package zeus

import (
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// WriteNew creates a file, durably and atomically: readers see the complete content or no
// file. It creates missing parent directories. If the file exists, the error is
// [io/fs.ErrExist].
func WriteNew(path string, content io.Reader) error {
	if err := atomicfile.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := atomicfile.Create(path, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(f, content); err != nil {
		return errors.Join(err, f.Abort())
	}
	return f.CommitNew()
}

// Remove removes a file durably.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}
