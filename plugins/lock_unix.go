//go:build unix

package plugins

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// flock locks a file until it is closed or its process dies, or is errLocked.
func flock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return errLocked
		case !errors.Is(err, unix.EINTR):
			return err
		}
	}
}
