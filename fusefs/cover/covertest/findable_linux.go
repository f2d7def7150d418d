package covertest

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// findable returns why this process may not find files by their numbers, as is tried with
// a folder.
func findable(dir string) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, dir, 0)
	if err != nil {
		return fmt.Errorf("finding the number of %q: %w", dir, err)
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	fd, err := unix.OpenByHandleAt(int(f.Fd()), handle, unix.O_PATH|unix.O_CLOEXEC)
	if err != nil {
		return fmt.Errorf("finding %q by its number: %w", dir, err)
	}
	return unix.Close(fd)
}
