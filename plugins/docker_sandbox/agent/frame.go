package agent

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// maxFrame is the largest payload in bytes. A frame is a kind (one byte), the length of the
// payload (four bytes, big-endian) and the payload.
const maxFrame = 1 << 18

// Kinds of frames. The client waits for the answer to a request before it sends the next; kindKill alone is sent during a run.
// An answer is kindData… and kindEnd with JSON, or kindError.
const (
	kindHello  = 'H' // JSON: the mount points whose files belong to the container
	kindRun    = 'R' // JSON Command; answered by its output and an exitStatus
	kindKill   = 'K' // during a run: kill all processes except the agent; it has no answer
	kindFreeze = 'Z' // stop all processes; answered by Frozen
	kindThaw   = 'T' // resume the stopped processes
	kindScan   = 'S' // answered by entries
	kindHash   = 'P' // kindData… (paths) and kindEnd; answered by the SHA-256 of each file
	kindRead   = 'G' // kindData… (paths) and kindEnd; answered by an answer for each path and one for all
	kindApply  = 'A' // kindPut… and kindEnd
	kindPut    = 'F' // a change: an entry, and for a regular file kindData… and kindEnd

	kindData  = 'D'
	kindEnd   = 'E'
	kindError = '!' // text: the request failed; the connection stays usable
)

// errProtocol reports that the other side violated the protocol.
var errProtocol = errors.New("the agent in the container violated its protocol")

type frame struct {
	kind    byte
	payload []byte
}

func readFrame(r io.Reader) (f frame, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return f, err
	}
	n := binary.BigEndian.Uint32(head[1:])
	if n > maxFrame {
		return f, fmt.Errorf("%w: a frame of %d bytes", errProtocol, n)
	}
	f = frame{head[0], make([]byte, n)}
	if _, err := io.ReadFull(r, f.payload); err != nil {
		return f, fmt.Errorf("read a frame: %w", noEOF(err))
	}
	return f, nil
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

// Write writes its input as kindData frames.
func (f *frameWriter) Write(p []byte) (int, error) {
	for piece := range slices.Chunk(p, maxFrame) {
		if err := f.write(kindData, piece); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// A dataReader reads the payloads of kindData frames until kindEnd. After an error other than
// io.EOF or a [*RequestError] the connection is unusable.
type dataReader struct {
	next   func() (frame, error)
	rest   []byte
	err    error
	result []byte // what kindEnd has
}

func (d *dataReader) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		f, err := d.next()
		switch {
		case err != nil:
			d.err = noEOF(err)
		case f.kind == kindData:
			d.rest = f.payload
		case f.kind == kindEnd:
			d.err, d.result = io.EOF, f.payload
		case f.kind == kindError:
			d.err = &RequestError{Message: string(f.payload)}
		default:
			d.err = fmt.Errorf("%w: unexpected frame %q", errProtocol, f.kind)
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}

// drain reads the rest, so that the next request can follow.
func (d *dataReader) drain() error {
	_, err := io.Copy(io.Discard, d)
	return err
}

// end reads the end of an answer whose data was read, and decodes its result unless that is nil.
func (d *dataReader) end(result any) error {
	if n, err := io.Copy(io.Discard, d); err != nil {
		return err
	} else if n > 0 {
		return fmt.Errorf("%w: unexpected data in an answer", errProtocol)
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(d.result, result); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	return nil
}

// A RequestError is the failure of one request; the agent accepts further requests.
type RequestError struct{ Message string }

func (e *RequestError) Error() string { return e.Message }

// Types of an [Entry] besides those of files in versions.
const (
	Socket  = domarkx.FileType(255) // a Unix socket, which versions cannot store
	deleted = domarkx.FileType(254) // in a change: the path is removed, with everything below it
	link    = domarkx.FileType(253) // in a change: the path becomes a hard link to the file at Target
)

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
