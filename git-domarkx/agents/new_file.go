package agents

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// WriteNew writes a file that must not be there yet, which is [fs.ErrExist], with the
// folders around it, and makes it durable. Readers see all of it or nothing.
func WriteNew(path string, content io.Reader) error {
	dir := filepath.Dir(path)
	if err := makeFolder(dir); err != nil {
		return err
	}
	f, err := atomicfile.CreateUnnamed(dir, 0o600)
	link := atomicfile.Link
	if errors.Is(err, errors.ErrUnsupported) {
		if f, err = os.CreateTemp(dir, ".git-domarkx-*"); err == nil {
			defer os.Remove(f.Name())
		}
		link = func(f *os.File, path string) error { return os.Link(f.Name(), path) } // unlike a rename it replaces nothing
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
	if err := syncFolder(dir); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// Remove removes a file, and makes that durable.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// makeFolder makes a folder, with those around it, that only the user may enter, and
// makes them durable.
func makeFolder(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeFolder(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}
