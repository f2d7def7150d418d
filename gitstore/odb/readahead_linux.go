package odb

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// A sink receives data that is read only to get it into the kernel's cache.
type sink struct{ null *os.File }

func newSink() (sink, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	return sink{null}, err
}

// read reads n bytes at an offset into the kernel's cache without copying them to the process: it sends the pages to
// /dev/null.
func (s sink) read(f *os.File, at int64, n int) error {
	for n > 0 {
		m, err := unix.Sendfile(int(s.null.Fd()), int(f.Fd()), &at, n)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return os.NewSyscallError("sendfile", err)
		case m == 0:
			return io.EOF
		}
		n -= max(m, 0)
	}
	return nil
}

func (s sink) Close() error { return s.null.Close() }
