//go:build unix

package database

import (
	"errors"
	"os"
)

// SyncFolder makes the names in a folder durable.
func SyncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
