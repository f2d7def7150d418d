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
	dir := filepath.Dir(path)
	if err := atomicfile.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := atomicfile.CreateUnnamed(dir, 0o600)
	link := atomicfile.Link
	if errors.Is(err, errors.ErrUnsupported) {
		if f, err = os.CreateTemp(dir, ".git-domarkx-*"); err == nil {
			defer os.Remove(f.Name())
		}
		link = func(f *os.File, path string) error { return os.Link(f.Name(), path) } // unlike a rename, a link never replaces a file
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := io.Copy(f, content); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := link(f, path); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(dir); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Remove removes a file durably.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(path))
}
