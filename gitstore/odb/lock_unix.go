//go:build unix

package odb

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

func lockFile(f *os.File) error { return atomicfile.TryLock(f) }

// alive reports whether a process is running.
func alive(pid int) bool {
	err := unix.Kill(pid, 0)
	return err == nil || errors.Is(err, unix.EPERM)
}
