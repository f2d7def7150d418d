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

// An Entry describes a file of the container as lstat(2) and listxattr(2) return it. Of its File, the name, the ids and hard
// links are not encoded.
type Entry struct {
	Path string // relative to the root, without a leading slash; "" is the root itself
	domarkx.File

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

// numbers returns pointers to all numbers of an encoded entry.
func (e *Entry) numbers(xattrs *uint16) []any {
	return []any{&e.Type, &e.Mode, &e.UID, &e.GID, &e.Size, &e.Major, &e.Minor, &e.Dev, &e.Ino, &e.Nlink, &e.CTime, xattrs}
}

// AppendEntry appends the encoding of e to b: its numbers, big-endian, and its strings, each after its length.
func AppendEntry(b []byte, e *Entry) []byte {
	xattrs := uint16(len(e.Xattrs))
	for _, n := range e.numbers(&xattrs) {
		b, _ = binary.Append(b, binary.BigEndian, n) // fails only for other types
	}
	b = appendString(appendString(b, e.Path), e.Target)
	for _, x := range e.Xattrs {
		b = appendString(appendString(b, x.Name), string(x.Value))
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// ReadEntry decodes one entry written by [AppendEntry]. It returns io.EOF at the end of the input.
func ReadEntry(r *bufio.Reader) (Entry, error) {
	if _, err := r.Peek(1); err != nil {
		return Entry{}, err
	}
	e, err := readEntry(r)
	if err != nil {
		return Entry{}, fmt.Errorf("read the list of files: %w", noEOF(err))
	}
	return e, nil
}

func readEntry(r *bufio.Reader) (e Entry, err error) {
	var xattrs uint16
	for _, n := range e.numbers(&xattrs) {
		if err := binary.Read(r, binary.BigEndian, n); err != nil {
			return e, err
		}
	}
	if e.Size < 0 || e.Mode > 0o7777 || xattrs > maxXattrs {
		return e, fmt.Errorf("%w: size %d, mode %o, %d extended attributes", errProtocol, e.Size, e.Mode, xattrs)
	}
	if e.Path, err = readString(r, maxPath); err == nil {
		e.Target, err = readString(r, maxPath)
	}
	for ; xattrs > 0 && err == nil; xattrs-- {
		var name, value string
		if name, err = readString(r, maxXattr); err == nil {
			value, err = readString(r, maxXattr)
		}
		e.Xattrs = append(e.Xattrs, domarkx.Xattr{Name: name, Value: []byte(value)})
	}
	return e, err
}

// readString decodes a string of appendString.
func readString(r *bufio.Reader, limit uint32) (string, error) {
	var n uint32
	if err := binary.Read(r, binary.BigEndian, &n); err != nil {
		return "", err
	}
	if n > limit {
		return "", fmt.Errorf("%w: a string of %d bytes", errProtocol, n)
	}
	b := make([]byte, n)
	_, err := io.ReadFull(r, b)
	return string(b), noEOF(err)
}
