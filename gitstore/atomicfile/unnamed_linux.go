package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CreateUnnamed opens a new file in a folder for reading and writing, without a name: if
// the process is killed, nothing is left of it (open(2), O_TMPFILE). The error is
// [errors.ErrUnsupported] where that is not possible, and [fs.ErrNotExist] when the folder
// does not exist.
func CreateUnnamed(dir string, perm fs.FileMode) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(perm.Perm()))
	switch {
	// Old kernels take it for the opening of a directory.
	case errors.Is(err, unix.EOPNOTSUPP), errors.Is(err, unix.EISDIR), errors.Is(err, unix.EINVAL):
		return nil, fmt.Errorf("unnamed file: %w", errors.ErrUnsupported)
	case err != nil:
		return nil, &os.PathError{Op: "make a file in", Path: dir, Err: err}
	}
	f := os.NewFile(uintptr(fd), dir+" (unnamed)")
	if _, err := os.Stat(descriptor(f)); err != nil { // /proc is not mounted
		f.Close()
		return nil, fmt.Errorf("unnamed file: %w", errors.ErrUnsupported)
	}
	return f, nil
}

// Link gives a file of [CreateUnnamed] a name, once. It syncs nothing. The error is
// [fs.ErrExist] when the name is taken.
func Link(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
}

func descriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }
