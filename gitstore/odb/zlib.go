package odb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/inflate"

	"github.com/klauspost/compress/zlib"
)

// firstPiece is the most memory, in bytes, that a reader allocates before it has read any data: a wrong size in a
// header then costs no more.
const firstPiece = 4 << 20

// An inflater decompresses a stream from memory. Inflaters are reused, since creating one takes longer than
// decompressing a small object.
type inflater struct {
	src  bytes.Reader
	zlib io.ReadCloser
}

var inflaters = sync.Pool{New: func() any { return new(inflater) }}

// newInflater returns an inflater for packed. The caller must call release.
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

// rest reads the rest of the stream. have and the rest must have exactly size bytes together.
func (f *inflater) rest(have []byte, size int64) ([]byte, error) {
	if size > maxObject {
		return nil, errTooLarge(size)
	}
	if int64(len(have)) > size {
		return nil, errInflate(errors.New("it is longer than its declared size"))
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
		return nil, errInflate(errors.New("it is longer than its declared size"))
	} else if err != io.EOF {
		return nil, errInflate(err) // a wrong checksum
	}
	return data, nil
}

// decompress returns the data of the stream at the beginning of packed, which must have size bytes. It does not verify
// the checksum of the stream, since objects are verified with their ids.
func decompress(packed []byte, size int64) ([]byte, error) {
	if size <= firstPiece {
		data := make([]byte, size)
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

// level is the level of compression. For a transcript, level 5 makes originals an eighth smaller than level 1, and an import takes
// hardly longer; level 7 takes a fifth longer for a few percent. Git does not compress objects again when it repacks.
const level = 5

var deflaters = sync.Pool{New: func() any {
	f := new(deflater)
	f.zlib, _ = zlib.NewWriterLevel(f, level) // an error is only possible for an invalid level
	return f
}}

// Write receives compressed data.
func (f *deflater) Write(p []byte) (int, error) {
	f.out = append(f.out, p...)
	return len(p), nil
}

// deflate appends the parts to out, compressed as one stream.
func deflate(out []byte, parts ...[]byte) []byte {
	f := deflaters.Get().(*deflater)
	defer deflaters.Put(f)
	f.out = out
	f.zlib.Reset(f)
	for _, part := range parts {
		_, _ = f.zlib.Write(part) // Write appends to memory and returns no errors
	}
	f.zlib.Close()
	out, f.out = f.out, nil
	return out
}

// store appends an uncompressed zlib stream with the data, which has fewer than 64 KiB.
func store(out, data []byte) []byte {
	out = append(out, 0x78, 0x01, 0x01) // the zlib header for the fastest level, and that of a stored block which is the last one
	out = binary.LittleEndian.AppendUint16(out, uint16(len(data)))
	out = binary.LittleEndian.AppendUint16(out, ^uint16(len(data)))
	return binary.BigEndian.AppendUint32(append(out, data...), adler32.Checksum(data))
}
