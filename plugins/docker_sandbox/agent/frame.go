package agent

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
)

// A frame is a kind (one byte), the length of the payload (four bytes, big
// endian) and the payload.
const maxFrame = 1 << 18

// The kinds of frames. Requests come from the client, and one is answered before
// the next is sent, apart from kindKill.
const (
	kindHello  = 'H' // JSON hello; answered by kindEnd
	kindRun    = 'R' // JSON runRequest; answered by kindData… and kindExit
	kindKill   = 'K' // during a run: kill all processes but the agent
	kindFreeze = 'Z' // stop all processes; answered by JSON Frozen in kindData, and kindEnd
	kindThaw   = 'T' // let them go on; answered by kindEnd
	kindScan   = 'S' // answered by kindData… (entries) and kindEnd
	kindHash   = 'P' // kindData… (paths) and kindEnd; answered by kindData… (SHA-256 each) and kindEnd
	kindRead   = 'G' // kindData… (paths) and kindEnd; answered, for each, by kindData… and kindEnd, or by kindError
	kindApply  = 'A' // operations and a last kindEnd; answered by kindEnd or kindError
	kindDelete = 'U' // an operation: remove the path and all below
	kindPut    = 'F' // an operation: an entry, and for a regular file kindData… and kindEnd
	kindLink   = 'L' // an operation: path NUL target, another name of an earlier file

	kindData  = 'D'
	kindEnd   = 'E'
	kindExit  = 'X' // JSON exitStatus
	kindError = '!' // text: the request was not done; the connection goes on
)

// errProtocol says that the other side did not keep to the protocol.
var errProtocol = errors.New("the agent in the container broke its protocol")

type frameReader struct{ r *bufio.Reader }

// next returns the next frame; its payload is the caller's.
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

// A frameWriter writes whole frames from several goroutines.
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

// dataWriter writes what it is given as kindData frames.
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

// A dataReader reads kindData frames until kindEnd. After an error other than
// io.EOF the connection is of no more use, unless it is a [*RequestError].
type dataReader struct {
	f    *frameReader
	rest []byte
	err  error
}

func (d *dataReader) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		kind, payload, err := d.f.next()
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

// drain reads to the end, so that the next request can follow.
func (d *dataReader) drain() error {
	_, err := io.Copy(io.Discard, d)
	return err
}

// A RequestError is what the agent could not do; it goes on.
type RequestError struct{ Message string }

func (e *RequestError) Error() string { return e.Message }
