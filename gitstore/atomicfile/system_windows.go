package atomicfile

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// TryLock locks an open file until it is closed or the process ends. The error is
// [ErrLocked] if another process holds the lock.
func TryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	at := windows.Overlapped{OffsetHigh: 1} // far beyond the content, so that other processes can read that
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
	if err == nil {
		return nil
	}
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		err = ErrLocked
	}
	return &os.PathError{Op: "lock", Path: f.Name(), Err: err}
}

// Unlock releases the lock of an open file.
func Unlock(f *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1}
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at)
}

// IsAlive reports whether a process may be running. Number 0 is an unknown one.
func IsAlive(process int) bool {
	p, err := os.FindProcess(process)
	if err == nil {
		p.Release()
	}
	return err == nil || process == 0
}

// Sync does nothing: Windows only syncs files that are open for writing.
func Sync(*os.File) error { return nil }

// SyncDir does nothing: Windows cannot sync directories, and NTFS journals names.
func SyncDir(string) error { return nil }

// IsOurs reports whether a file belongs to this user.
func IsOurs(fs.FileInfo) bool { return true }
