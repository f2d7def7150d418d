//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// TryLock locks an open file or directory until it is closed or the process ends (flock(2)).
// The error is [ErrLocked] if another process holds the lock, and [errors.ErrUnsupported] if the
// file system cannot lock the file; NFS, for instance, locks only files open for writing.
func TryLock(f *os.File) error {
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			err = ErrLocked
		case errors.Is(err, unix.EBADF), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOLCK), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
			err = errors.ErrUnsupported
		}
		return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
}

// Unlock releases the lock of an open file, also for children that have inherited the file.
func Unlock(f *os.File) error { return unix.Flock(int(f.Fd()), unix.LOCK_UN) }

// IsAlive reports whether a process may be running. Number 0 is an unknown one.
func IsAlive(process int) bool { return !errors.Is(unix.Kill(process, 0), unix.ESRCH) }

// Sync makes an open file or directory durable, even if it is open for reading only (fsync(2)).
// It does nothing if the file system does not support that.
func Sync(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// SyncDir makes the names in a directory durable. For a file, that is its content.
func SyncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(Sync(f), f.Close())
}

// IsOurs reports whether a file belongs to this user.
func IsOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}
