package agent

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"strings"

	"github.com/domarkx/domarkx/plugins/sparse"
	"golang.org/x/sys/unix"
)

// each calls do with each file of a request, or with the reason why it cannot be opened.
func (s *server) each(ctx context.Context, do func(*os.File, error) error) error {
	paths, err := s.paths(ctx)
	if err != nil {
		return err
	}
	f := newDirOpener(s.root)
	defer f.close()
	for _, path := range paths {
		file, err := f.openFile(path)
		err = do(file, err)
		if file != nil {
			file.Close()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hash sends the SHA-256 of each file.
func (s *server) hash(ctx context.Context) error {
	return s.each(ctx, func(file *os.File, err error) error {
		if err != nil {
			return err
		}
		h := sha256.New()
		if _, err := io.Copy(h, sparse.Reader(int(file.Fd()), math.MaxInt64)); err != nil {
			return err
		}
		return s.out.write(kindData, h.Sum(nil))
	})
}

// read answers a request with the content of each file.
func (s *server) read(ctx context.Context) error {
	// No other goroutine writes during this request, so small answers can be buffered.
	w := bufio.NewWriterSize(s.out.w, 1<<16)
	out := &frameWriter{w: w}
	buffer := make([]byte, maxFrame)
	err := s.each(ctx, func(file *os.File, err error) error {
		if err == nil {
			_, err = io.CopyBuffer(out, sparse.Reader(int(file.Fd()), math.MaxInt64), buffer)
		}
		return out.answer(nil, err)
	})
	return errors.Join(err, w.Flush())
}

// dirOpener opens the directories of paths component by component, because a path may be longer than PATH_MAX and symbolic
// links must not be followed. It keeps the last directory open, since paths arrive sorted.
type dirOpener struct {
	root string
	at   string
	fd   int // -1: none
}

func newDirOpener(root string) *dirOpener { return &dirOpener{root: root, fd: -1} }

func (f *dirOpener) close() {
	if f.fd >= 0 {
		unix.Close(f.fd)
		f.fd = -1
	}
}

// parent returns the open parent directory of a path, valid until the next call, and the last
// component of the path, "." for the root.
func (f *dirOpener) parent(p string) (int, string, error) {
	dir, name := path.Split(p)
	dir = strings.TrimSuffix(dir, "/")
	if p == "" {
		name = "."
	}
	if name == "" || name == ".." || strings.ContainsRune(p, 0) {
		return -1, "", fmt.Errorf("%q is not a valid path", p)
	}
	if f.fd >= 0 && f.at == dir {
		return f.fd, name, nil
	}
	f.close()
	fd, err := open(unix.AT_FDCWD, f.root, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		return -1, "", &os.PathError{Op: "open", Path: f.root, Err: err}
	}
	if dir != "" {
		for component := range strings.SplitSeq(dir, "/") {
			next, err := open(fd, component, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW)
			unix.Close(fd)
			if err != nil {
				return -1, "", &os.PathError{Op: "open", Path: dir, Err: err}
			}
			fd = next
		}
	}
	f.fd, f.at = fd, dir
	return fd, name, nil
}

// openFile opens a regular file for reading.
func (f *dirOpener) openFile(p string) (*os.File, error) {
	dir, name, err := f.parent(p)
	if err != nil {
		return nil, err
	}
	fd, err := open(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOATIME)
	if errors.Is(err, unix.EPERM) {
		fd, err = open(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK)
	}
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: p, Err: err}
	}
	file := os.NewFile(uintptr(fd), p)
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, &os.PathError{Op: "read", Path: p, Err: errors.New("no longer a regular file")}
	}
	return file, nil
}

func open(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

// procPath returns a path to a file in an open directory for system calls without a directory
// argument, such as lsetxattr(2).
func procPath(dir int, name string) string { return fmt.Sprintf("/proc/self/fd/%d/%s", dir, name) }
