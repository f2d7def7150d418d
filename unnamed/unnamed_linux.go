package unnamed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Create opens a new file in a folder for reading and writing, without giving it a name:
// open(2), O_TMPFILE. The error is [errors.ErrUnsupported] where that cannot be done, and
// [fs.ErrNotExist] when there is no such folder.
func Create(dir string, perm fs.FileMode) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(perm.Perm()))
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

// Link gives a file of [Create] a name, once. The error is [fs.ErrExist] when something has
// that name.
func Link(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
}

func descriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
