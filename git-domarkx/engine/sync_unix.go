//go:build unix

package engine

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder makes durable which files a folder has.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// isAlive reports whether a process runs, as far as one can tell.
func isAlive(process int) bool {
	err := syscall.Kill(process, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
