package agent

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// maxFrame is the largest payload in bytes. A frame is a kind (one byte), the length of the
// payload (four bytes, big-endian) and the payload.
const maxFrame = 1 << 18

// Kinds of frames. The client waits for the answer to a request before it sends the next;
// kindKill alone is sent during a run.
const (
	kindHello  = 'H' // JSON hello; answered by kindEnd
	kindRun    = 'R' // JSON runRequest; answered by kindData… and kindExit
	kindKill   = 'K' // during a run: kill all processes except the agent
	kindFreeze = 'Z' // stop all processes; answered by JSON Frozen in kindData, and kindEnd
	kindThaw   = 'T' // resume the stopped processes; answered by kindEnd
	kindScan   = 'S' // answered by kindData… (entries) and kindEnd
	kindHash   = 'P' // kindData… (paths) and kindEnd; answered by kindData… (SHA-256 each) and kindEnd
	kindRead   = 'G' // kindData… (paths) and kindEnd; each path is answered by kindData… and kindEnd, or by kindError
	kindApply  = 'A' // operations and a final kindEnd; answered by kindEnd or kindError
	kindDelete = 'U' // operation: remove the path and everything below it
	kindPut    = 'F' // operation: an entry, and for a regular file kindData… and kindEnd
	kindLink   = 'L' // operation: path NUL target; creates a hard link at path

	kindData  = 'D'
	kindEnd   = 'E'
	kindExit  = 'X' // JSON exitStatus
	kindError = '!' // text: the request failed; the connection stays usable
)

// errProtocol reports that the other side violated the protocol.
var errProtocol = errors.New("the agent in the container violated its protocol")

type frameReader struct{ r *bufio.Reader }

// next returns the next frame. The caller owns the payload.
func (f *frameReader) next() (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes", errProtocol, n)
	}
	payload = make([]byte, n)
	if _, err := io.ReadFull(f.r, payload); err != nil {
		return 0, nil, fmt.Errorf("read a frame: %w", noEOF(err))
	}
	return head[0], payload, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A frameWriter writes frames. It is safe for concurrent use.
type frameWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (f *frameWriter) write(kind byte, payload []byte) error {
	if len(payload) > maxFrame {
		return fmt.Errorf("%w: a frame of %d bytes", errProtocol, len(payload))
	}
	frame := make([]byte, 5, 5+len(payload))
	frame[0] = kind
	binary.BigEndian.PutUint32(frame[1:], uint32(len(payload)))
	frame = append(frame, payload...)
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := f.w.Write(frame)
	return err
}

func (f *frameWriter) writeJSON(kind byte, v any) error {
	payload, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return f.write(kind, payload)
}

// dataWriter writes its input as kindData frames.
type dataWriter struct{ f *frameWriter }

func (d dataWriter) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n := min(len(p), maxFrame)
		if err := d.f.write(kindData, p[:n]); err != nil {
			return written, err
		}
		written += n
		p = p[n:]
	}
	return written, nil
}

// A dataReader reads the payloads of kindData frames until kindEnd. After an error other than
// io.EOF or a [*RequestError] the connection is unusable.
type dataReader struct {
	next func() (kind byte, payload []byte, err error)
	rest []byte
	err  error
}

func (d *dataReader) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		kind, payload, err := d.next()
		switch {
		case err != nil:
			d.err = noEOF(err)
		case kind == kindData:
			d.rest = payload
		case kind == kindEnd:
			d.err = io.EOF
		case kind == kindError:
			d.err = &RequestError{Message: string(payload)}
		default:
			d.err = fmt.Errorf("%w: unexpected frame %q", errProtocol, kind)
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// drain reads the rest of the answer, so that the next request can follow.
func (d *dataReader) drain() error {
	_, err := io.Copy(io.Discard, d)
	return err
}

// A RequestError is the failure of one request; the agent accepts further requests.
type RequestError struct{ Message string }

func (e *RequestError) Error() string { return e.Message }

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

// AppendEntry appends the encoding of e to b. Numbers are unsigned varints (encoding/binary); strings follow their length.
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
