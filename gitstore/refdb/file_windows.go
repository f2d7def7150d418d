package refdb

import (
	"os"

	"golang.org/x/sys/windows"
)

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	buffer := make([]byte, 256)
	n, err := file.Read(buffer)
	if n > 0 {
		err = nil
	}
	return buffer[:n], err
}

// isNoFile reports whether err means that a path is a directory or does not exist.
func isNoFile(err error) bool {
	return err != nil && (os.IsNotExist(err) || isErr(err, windows.ERROR_DIRECTORY) || isErr(err, windows.ERROR_INVALID_FUNCTION))
}

func isErr(err error, code windows.Errno) bool {
	path, ok := err.(*os.PathError)
	return ok && path.Err == code
}

const errFull = windows.ERROR_DISK_FULL

func isFull(string) bool { return false }

func isReadOnly(err error) bool { return isErr(err, windows.ERROR_WRITE_PROTECT) }

func tryFlock(file *os.File) (bool, error) {
	err := lockFile(file, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}

func waitFlock(file *os.File) error { return lockFile(file, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// lockFile locks one byte far beyond the content, so that other processes can read the content.
func lockFile(file *os.File, flags uint32) error {
	at := windows.Overlapped{OffsetHigh: 1}
	return windows.LockFileEx(windows.Handle(file.Fd()), flags, 0, 1, 0, &at)
}

func unlock(file *os.File) error {
	at := windows.Overlapped{OffsetHigh: 1}
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, 1, 0, &at)
}

// inherited returns nil, since children do not inherit open files on Windows.
func inherited(*os.File) []*os.File { return nil }
