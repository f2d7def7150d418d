package drafts

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// flock locks a file until it is closed or its process dies, or fails at once.
func flock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	if err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, new(windows.Overlapped)); err != nil {
		return fmt.Errorf("locking %q: %w", f.Name(), err)
	}
	return nil
}

// syncDir does nothing: NTFS journals names, and folders cannot be synced.
func syncDir(string) error { return nil }
