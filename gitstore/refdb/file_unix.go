//go:build unix

package refdb

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// readSmall reads the first bytes of a small file with as few system calls as possible, since
// listing reads each reference.
func readSmall(path string) ([]byte, error) {
	buffer := make([]byte, 256)
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
		if err == unix.EINTR {
			continue
		}
		if err == unix.ELOOP {
			return []byte("ref:"), nil // symbolic links are the oldest form of symbolic references
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		n, err := unix.Read(fd, buffer)
		for err == unix.EINTR {
			n, err = unix.Read(fd, buffer)
		}
		unix.Close(fd)
		if err != nil {
			return nil, &fs.PathError{Op: "read", Path: path, Err: err}
		}
		return buffer[:n], nil
	}
}

// isNoFile reports whether a path is a directory, or leads through a file.
func isNoFile(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// errFull is the error of a full file system.
const errFull = syscall.ENOSPC

// isFull reports whether a file system lacks the room for a few small files.
func isFull(path string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil || fs.Blocks == 0 {
		return false
	}
	return uint64(fs.Bavail)*uint64(fs.Bsize) < 64<<10 || fs.Files > 0 && fs.Ffree < 8
}

// tryFlock takes the lock of an open file; ok is false if somebody else holds it.
func tryFlock(file *os.File) (bool, error) {
	switch err := flock(file, unix.LOCK_EX|unix.LOCK_NB); err {
	case nil:
		return true, nil
	case unix.EWOULDBLOCK:
		return false, nil
	default:
		return false, err
	}
}

// waitFlock takes the lock of an open file, and waits for it.
func waitFlock(file *os.File) error { return flock(file, unix.LOCK_EX) }

// unlock releases the lock, even if a child has inherited the file.
func unlock(file *os.File) error { return flock(file, unix.LOCK_UN) }

func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); err != unix.EINTR {
			return err
		}
	}
}

// inherited returns the files that git must inherit, so that it keeps the journal file locked
// when this process ends.
func inherited(file *os.File) []*os.File { return []*os.File{file} }
