//go:build unix

package local

import (
	"errors"
	"syscall"
)

// IsAlive reports whether a process seems to be running.
func IsAlive(process int) bool {
	err := syscall.Kill(process, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
