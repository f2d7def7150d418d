package agent

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Socket is the type of an [Entry] for a Unix socket, which versions cannot store.
const Socket domarkx.FileType = 255

// An Entry describes a file of the container as lstat(2) and listxattr(2) return it.
type Entry struct {
	Path         string // relative to the root, without a leading slash; "" is the root itself
	Type         domarkx.FileType
	Mode         uint32 // 07777
	UID, GID     uint32
	Size         int64 // of a regular file
	Major, Minor uint32
	Target       string // of a symbolic link
	Xattrs       []domarkx.Xattr

	// Identify an unchanged file and the hard links to one file.
	Dev, Ino, Nlink uint64
	CTime           int64 // nanoseconds since 1970
}

// Limits for data read from a container.
const (
	maxPath   = 1 << 20
	maxXattr  = 1 << 16 // of a name or value: XATTR_SIZE_MAX (linux/limits.h)
	maxXattrs = 1 << 12
)

// AppendEntry appends the encoding of e to b. Numbers are unsigned varints (encoding/binary);
// strings follow their length.
func AppendEntry(b []byte, e *Entry) []byte {
	b = appendString(b, e.Path)
	b = append(b, byte(e.Type))
	for _, n := range []uint64{uint64(e.Mode), uint64(e.UID), uint64(e.GID), uint64(e.Size), uint64(e.Major),
		uint64(e.Minor), e.Dev, e.Ino, e.Nlink, uint64(e.CTime)} {
		b = binary.AppendUvarint(b, n)
	}
	b = appendString(b, e.Target)
	b = binary.AppendUvarint(b, uint64(len(e.Xattrs)))
	for _, x := range e.Xattrs {
		b = appendString(b, x.Name)
		b = appendString(b, string(x.Value))
	}
	return b
}

func appendString(b []byte, s string) []byte {
	b = binary.AppendUvarint(b, uint64(len(s)))
	return append(b, s...)
}

// ReadEntry decodes one entry written by [AppendEntry]. It returns io.EOF at the end of the input.
func ReadEntry(r *bufio.Reader) (Entry, error) {
	if _, err := r.Peek(1); err != nil {
		return Entry{}, err
	}
	d := decoder{r: r}
	e := Entry{Path: d.string(maxPath), Type: domarkx.FileType(d.byte())}
	e.Mode, e.UID, e.GID = d.uint32(), d.uint32(), d.uint32()
	e.Size = int64(d.uint64())
	e.Major, e.Minor = d.uint32(), d.uint32()
	e.Dev, e.Ino, e.Nlink, e.CTime = d.uint64(), d.uint64(), d.uint64(), int64(d.uint64())
	e.Target = d.string(maxPath)
	n := d.uint64()
	if n > maxXattrs {
		d.fail("%d extended attributes", n)
	}
	for i := uint64(0); i < n && d.err == nil; i++ {
		name := d.string(maxXattr)
		e.Xattrs = append(e.Xattrs, domarkx.Xattr{Name: name, Value: []byte(d.string(maxXattr))})
	}
	if e.Size < 0 || e.Mode > 0o7777 {
		d.fail("size %d, mode %o", e.Size, e.Mode)
	}
	if d.err != nil {
		return Entry{}, fmt.Errorf("read the list of files: %w", noEOF(d.err))
	}
	return e, nil
}

// A decoder reads fields and remembers the first error.
type decoder struct {
	r   *bufio.Reader
	err error
}

func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: "+format, append([]any{errProtocol}, args...)...)
	}
}

func (d *decoder) byte() byte {
	if d.err != nil {
		return 0
	}
	c, err := d.r.ReadByte()
	d.err = err
	return c
}

func (d *decoder) uint64() uint64 {
	if d.err != nil {
		return 0
	}
	n, err := binary.ReadUvarint(d.r)
	d.err = err
	return n
}

func (d *decoder) uint32() uint32 {
	n := d.uint64()
	if n > 1<<32-1 {
		d.fail("%d has more than 32 bits", n)
	}
	return uint32(n)
}

func (d *decoder) string(limit uint64) string {
	n := d.uint64()
	if n > limit {
		d.fail("a string of %d bytes", n)
	}
	if d.err != nil {
		return ""
	}
	b := make([]byte, n)
	_, d.err = io.ReadFull(d.r, b)
	return string(b)
}
