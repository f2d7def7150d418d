package odb

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/inflate"

	"github.com/klauspost/compress/zlib"
)

func errInflate(err error) error {
	return fmt.Errorf("decompress: %w: %w", domarkx.ErrCorrupt, err)
}

func errTooLarge(size int64) error {
	return fmt.Errorf("object of %d bytes: %w: more than %d MiB in one piece", size, domarkx.ErrUnsupported, maxObject>>20)
}

// maxRatio is how many times longer than its stream decompressed data can be: Deflate has two bits for 258 bytes.
const maxRatio = 1032

// memoryFor returns memory for the data of a stream that declares a size. A wrong size costs no more than the longest data that
// fits into the stream.
func memoryFor(size int64, packed []byte) ([]byte, error) {
	if size/maxRatio > int64(len(packed)) {
		return nil, errInflate(errors.New("it is too short for its declared size"))
	}
	return make([]byte, size), nil
}

// decompress returns the data of the stream at the beginning of packed, which must have size bytes. It does not verify
// the checksum of the stream, since objects are verified with their ids.
func decompress(packed []byte, size int64) ([]byte, error) {
	if size > maxObject {
		return nil, errTooLarge(size)
	}
	data, err := memoryFor(size, packed)
	if err != nil {
		return nil, err
	}
	if _, err := inflate.Decode(data, packed); err != nil {
		return nil, errInflate(err)
	}
	return data, nil
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

// deflate appends data to out, compressed as one stream.
func deflate(out, data []byte) []byte {
	f := deflaters.Get().(*deflater)
	defer deflaters.Put(f)
	f.out = out
	f.zlib.Reset(f)
	_, _ = f.zlib.Write(data) // Write appends to memory and returns no errors
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
