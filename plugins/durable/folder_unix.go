//go:build unix

package durable

import (
	"errors"
	"os"
)

// SyncFolder makes the names in a folder durable (fsync(2)).
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
