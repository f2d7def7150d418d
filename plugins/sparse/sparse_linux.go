// Package sparse reads files without reading their holes from the disk.
package sparse

import (
	"errors"
	"io"
	"math"

	"golang.org/x/sys/unix"
)

// Reader returns a reader of the first most bytes of an open regular file. Holes are zeros that are not
// read from the file (lseek(2), SEEK_HOLE). The file's offset may change.
func Reader(fd int, most int64) io.Reader { return &reader{fd: fd, most: most} }

// A reader is at an offset that lies before its next data, or in it.
type reader struct {
	fd         int
	at, most   int64
	data, hole int64 // where the next data begins and ends
}

func (r *reader) Read(p []byte) (int, error) {
	if r.at >= r.most {
		return 0, io.EOF
	}
	if r.at >= r.hole {
		if err := r.find(); err != nil {
			return 0, err
		}
	}
	if r.at < r.data {
		n := min(int64(len(p)), min(r.data, r.most)-r.at)
		clear(p[:n])
		r.at += n
		return int(n), nil
	}
	for {
		n, err := unix.Pread(r.fd, p[:min(int64(len(p)), min(r.hole, r.most)-r.at)], r.at)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return 0, err
		}
		if n == 0 && len(p) > 0 {
			return 0, io.EOF
		}
		r.at += int64(n)
		return n, nil
	}
}

// find finds the next data.
func (r *reader) find() (err error) {
	r.data, err = unix.Seek(r.fd, r.at, unix.SEEK_DATA)
	switch {
	case errors.Is(err, unix.ENXIO): // a hole, or nothing, until the end
		var st unix.Stat_t
		if err := unix.Fstat(r.fd, &st); err != nil {
			return err
		}
		r.data, r.hole = st.Size, st.Size
		if r.at >= st.Size {
			return io.EOF
		}
		return nil
	case err != nil: // the file system does not know
		r.data, r.hole = r.at, math.MaxInt64
		return nil
	}
	if r.hole, err = unix.Seek(r.fd, r.data, unix.SEEK_HOLE); err != nil {
		r.hole = math.MaxInt64
	}
	return nil
}
