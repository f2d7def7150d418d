package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/inflate"

	"github.com/klauspost/compress/zlib"
)

// firstPiece is how much memory a declared size alone can make a reader take.
const firstPiece = 4 << 20

// An inflater decompresses from memory. Making one costs more than using it on a
// small object, so they are reused.
type inflater struct {
	src  bytes.Reader
	zlib io.ReadCloser
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// newInflater returns an inflater at the beginning of packed; give it back with
// release.
func newInflater(packed []byte) (*inflater, error) {
	f := inflaters.Get().(*inflater)
	f.src.Reset(packed)
	var err error
	if f.zlib == nil {
		f.zlib, err = zlib.NewReader(&f.src)
	} else {
		err = f.zlib.(zlib.Resetter).Reset(&f.src, nil)
	}
	if err != nil {
		f.release()
		return nil, errInflate(err)
	}
	return f, nil
}

func (f *inflater) release() {
	f.src.Reset(nil)
	inflaters.Put(f)
}

func errInflate(err error) error {
	return fmt.Errorf("decompress: %w: %w", domarkx.ErrCorrupt, err)
}

func errTooLarge(size int64) error {
	return fmt.Errorf("object of %d bytes: %w: more than %d MiB in one piece", size, domarkx.ErrUnsupported, maxObject>>20)
}

// rest returns what is left after have, which together must be exactly size bytes.
func (f *inflater) rest(have []byte, size int64) ([]byte, error) {
	if size > maxObject {
		return nil, errTooLarge(size)
	}
	if int64(len(have)) > size {
		return nil, errInflate(errors.New("it is longer than it says"))
	}
	data := make([]byte, min(size, max(firstPiece, int64(len(have)))))
	n := copy(data, have)
	for {
		m, err := io.ReadFull(f.zlib, data[n:])
		n += m
		if err != nil {
			return nil, errInflate(err)
		}
		if int64(n) == size {
			break
		}
		grown := make([]byte, min(size, 2*int64(n)))
		copy(grown, data)
		data = grown
	}
	var more [1]byte
	if m, err := io.ReadFull(f.zlib, more[:]); m > 0 {
		return nil, errInflate(errors.New("it is longer than it says"))
	} else if err != io.EOF {
		return nil, errInflate(err) // the checksum
	}
	return data, nil
}

// decompress returns the size bytes of data that packed begins with. It does not verify
// the checksum of the stream: objects are compared with their ids.
func decompress(packed []byte, size int64) ([]byte, error) {
	if size <= firstPiece {
		data := make([]byte, size, size+inflate.Slack)
		if _, err := inflate.Decode(data, packed); err != nil {
			return nil, errInflate(err)
		}
		return data, nil
	}
	f, err := newInflater(packed)
	if err != nil {
		return nil, err
	}
	defer f.release()
	return f.rest(nil, size)
}

// decompressHead returns the first n bytes of data.
func decompressHead(packed []byte, n int64) ([]byte, error) {
	f, err := newInflater(packed)
	if err != nil {
		return nil, err
	}
	defer f.release()
	head := make([]byte, n)
	if _, err := io.ReadFull(f.zlib, head); err != nil {
		return nil, errInflate(err)
	}
	return head, nil
}

// A deflater compresses into memory.
type deflater struct {
	out  []byte
	zlib *zlib.Writer
}

// Objects of sessions are compressed at level 1: they are small, and their originals large. Git
// keeps them as they are when it repacks. Files of versions are compressed at level 4, which makes
// them a tenth smaller and up to a half faster to read.
var (
	deflaters     = newDeflaters(zlib.BestSpeed)
	fileDeflaters = newDeflaters(4)
)

func newDeflaters(level int) *sync.Pool {
	return &sync.Pool{New: func() any {
		f := new(deflater)
		f.zlib, _ = zlib.NewWriterLevel(f, level) // errors only for an unknown level
		return f
	}}
}

// Write takes compressed bytes.
func (f *deflater) Write(p []byte) (int, error) {
	f.out = append(f.out, p...)
	return len(p), nil
}

// deflate appends the parts, compressed as one stream, to out.
func deflate(out []byte, parts ...[]byte) []byte { return deflateWith(deflaters, out, parts) }

// maxSmall is the size up to which objects are compressed at level 1, whatever they are.
const maxSmall = 16 << 10

// deflateFile is deflate for what is probably a file, or a chunk of one.
func deflateFile(out []byte, parts ...[]byte) []byte {
	return deflateWith(fileDeflaters, out, parts)
}

func deflateWith(pool *sync.Pool, out []byte, parts [][]byte) []byte {
	f := pool.Get().(*deflater)
	defer pool.Put(f)
	f.out = out
	f.zlib.Reset(f)
	for _, part := range parts {
		f.zlib.Write(part) // appending takes everything
	}
	f.zlib.Close()
	out, f.out = f.out, nil
	return out
}

// store appends data, at most 64 KiB less one byte of it, as a stream of which nothing
// is compressed.
func store(out, data []byte) []byte {
	out = append(out, 0x78, 0x01, 0x01) // zlib, as fast as can be; a stored block, the last
	out = binary.LittleEndian.AppendUint16(out, uint16(len(data)))
	out = binary.LittleEndian.AppendUint16(out, ^uint16(len(data)))
	return binary.BigEndian.AppendUint32(append(out, data...), adler32.Checksum(data))
}
