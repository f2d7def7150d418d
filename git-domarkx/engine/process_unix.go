//go:build unix

package engine

import (
	"errors"
	"syscall"
)

// isAlive reports whether a process runs, as far as one can tell.
func isAlive(process int) bool {
	err := syscall.Kill(process, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
