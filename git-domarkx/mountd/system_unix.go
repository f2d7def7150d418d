//go:build unix

package mountd

import (
	"os"

	"golang.org/x/sys/unix"
)

// mayWrite reports whether this user can create files in a directory.
func mayWrite(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }

// lockFile takes an exclusive lock on a file until the file is closed. It returns an
// error if another process holds the lock.
func lockFile(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }
