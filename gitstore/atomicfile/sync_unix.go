//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// Sync makes an open file or directory durable, even if it is open for reading only (fsync(2)).
// It does nothing if the file system does not support that.
func Sync(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// SyncDir makes the names in a directory durable. For a file, that is its content.
func SyncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(Sync(f), f.Close())
}
