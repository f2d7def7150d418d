package refdb

import (
	"os"

	"golang.org/x/sys/unix"
)

// canSyncAll says that one call can make many references durable.
const canSyncAll = true

// syncAll makes everything durable that was written to the file system of path.
func syncAll(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Syncfs(int(dir.Fd()))
}
