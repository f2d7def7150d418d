package original

import (
	"bufio"
	"errors"
	"io"

	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// segmentSize is the number of bytes from which on a segment ends with the next line.
const segmentSize = 64 << 10

// A segmentReader divides a document into segments.
type segmentReader struct {
	input   *bufio.Reader
	segment []byte
	size    int64 // bytes of the segments read so far
	ended   bool  // whether all segments were read
}

func readSegments(content io.Reader) *segmentReader {
	return &segmentReader{input: bufio.NewReaderSize(content, segmentSize)}
}

// next returns the bytes up to the first line end after segmentSize bytes, or up to the end; the last
// segment may be empty. The slice is valid until the next call. If the segment is too large for an
// ordinary blob, whole is false, and the caller must read the rest of the line.
func (r *segmentReader) next() (segment []byte, whole bool, err error) {
	segment = r.segment[:0]
	defer func() {
		r.segment = segment
		r.size += int64(len(segment))
	}()
	for {
		part, err := r.input.ReadSlice('\n')
		segment = append(segment, part...)
		switch {
		case err == io.EOF:
			r.ended = true
			return segment, true, nil
		case err == nil && len(segment) >= segmentSize:
			return segment, true, nil
		case err == nil:
			continue
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		case len(segment) > chunked.Threshold:
			return segment, false, nil
		}
	}
}

// A lineReader reads up to the end of a line.
type lineReader struct {
	input *bufio.Reader
	part  []byte
	done  bool
	size  int64 // bytes read of the line
}

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.part) == 0 {
		if r.done {
			return 0, io.EOF
		}
		var err error
		r.part, err = r.input.ReadSlice('\n')
		switch {
		case err == nil, err == io.EOF:
			r.done = true
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
	}
	n := copy(p, r.part)
	r.part = r.part[n:]
	r.size += int64(n)
	return n, nil
}
