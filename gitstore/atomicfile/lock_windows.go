package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock locks an open file until it is closed or the process ends. The error is
// [ErrLocked] if another process holds the lock.
func TryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped))
	if err == nil {
		return nil
	}
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		err = ErrLocked
	}
	return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}
