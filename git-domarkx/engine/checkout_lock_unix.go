//go:build unix

package engine

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFolder locks a folder until it is closed or its process ends, wherever that runs.
// The error is errLocked when another process has it, and [errors.ErrUnsupported] where
// the file system locks no folders.
func lockFolder(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return f, nil
		}
		if errors.Is(err, unix.EINTR) {
			continue
		}
		f.Close()
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, errLocked
		case errors.Is(err, unix.EBADF), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			return nil, errors.ErrUnsupported // NFS, for one, locks what is open for writing
		}
		return nil, &os.PathError{Op: "flock", Path: path, Err: err}
	}
}
