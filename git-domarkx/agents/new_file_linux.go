package agents

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// openUnnamed opens a new file in a folder without giving it a name (open(2),
// O_TMPFILE), of which a kill leaves nothing. The error is [errors.ErrUnsupported]
// where that cannot be done.
func openUnnamed(dir string) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	switch {
	// Old kernels take it for the opening of a directory.
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EISDIR), errors.Is(err, unix.EINVAL):
		return nil, fmt.Errorf("unnamed file: %w", errors.ErrUnsupported)
	case err != nil:
		return nil, &os.PathError{Op: "make a file in", Path: dir, Err: err}
	}
	f := os.NewFile(uintptr(fd), dir+" (unnamed)")
	if _, err := os.Stat(descriptor(f)); err != nil { // no /proc here
		f.Close()
		return nil, fmt.Errorf("unnamed file: %w", errors.ErrUnsupported)
	}
	return f, nil
}

// linkUnnamed gives a file of openUnnamed a name that nothing has.
func linkUnnamed(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
}

func descriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
