package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// SyncFS makes everything durable that was written to the file system of a path (syncfs(2)).
// The error is [errors.ErrUnsupported] on systems other than Linux.
func SyncFS(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return &os.PathError{Op: "syncfs", Path: path, Err: err}
	}
	return nil
}
