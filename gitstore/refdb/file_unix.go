//go:build unix

package refdb

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// readSmall reads up to 256 bytes of a file with as few system calls as possible, since [Refs.List] reads each loose
// reference. For a symbolic link it returns "ref:".
func readSmall(path string) ([]byte, error) {
	buffer := make([]byte, 256)
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOFOLLOW, 0)
		if err == unix.EINTR {
			continue
		}
		if err == unix.ELOOP {
			return []byte("ref:"), nil // old versions of Git stored symbolic references as symbolic links
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

// isNoFile reports whether err means that a path is a directory, that a parent in it is not one, or that no
// file can have such a long name.
func isNoFile(err error) bool {
	return errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) || errors.Is(err, syscall.ENAMETOOLONG)
}

func isReadOnly(err error) bool { return errors.Is(err, syscall.EROFS) }

// errFull is the system's error for a full file system.
const errFull = syscall.ENOSPC

// isFull reports whether the file system at path has no space for a few small files.
func isFull(path string) bool {
	var fs unix.Statfs_t
	if unix.Statfs(path, &fs) != nil || fs.Blocks == 0 {
		return false
	}
	return uint64(fs.Bavail)*uint64(fs.Bsize) < 64<<10 || fs.Files > 0 && fs.Ffree < 8
}

// inherited returns the open files that git must inherit so that the journal file stays locked until git ends, even if
// this process ends before.
func inherited(file *os.File) []*os.File { return []*os.File{file} }
