//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// SyncDir makes the names in a folder durable: fsync(2). It does nothing on a file system
// that has nothing to sync in a folder.
func SyncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
