//go:build unix

package engine

import (
	"errors"
	"syscall"
)

// isAlive reports whether a process seems to be running.
func isAlive(process int) bool {
	err := syscall.Kill(process, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
