package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CreateUnnamed opens a new file without a name in a directory, for reading and writing. If the
// process is killed, the file disappears (open(2), O_TMPFILE). The error is
// [errors.ErrUnsupported] if that is not possible, and [fs.ErrNotExist] if the directory does
// not exist.
func CreateUnnamed(dir string, perm fs.FileMode) (*os.File, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, uint32(perm.Perm()))
	switch {
	// Old kernels try to open the directory itself.
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

// Link gives a file of [CreateUnnamed] a name, once. It does not sync. The error is
// [fs.ErrExist] if the name exists.
func Link(f *os.File, path string) error {
	err := unix.Linkat(unix.AT_FDCWD, descriptor(f), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
	if err == nil {
		return nil
	}
	return &os.LinkError{Op: "link", Old: f.Name(), New: path, Err: err}
}

func descriptor(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

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
