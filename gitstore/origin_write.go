package gitstore

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// segmentSize is the number of bytes from which on a segment of a foreign original
// ends with the line.
const segmentSize = 64 << 10

// store stores the bytes of an original in segments and fills in all but the format.
func (o *Origin) store(ctx context.Context, b *builder, content io.Reader) error {
	digest := sha256.New()
	size := &counter{w: digest}
	folders := fanOut{builder: b}
	if err := storeSegments(ctx, &folders, io.TeeReader(content, size)); err != nil {
		return err
	}
	var err error
	o.segments, err = folders.finish()
	o.count, o.Size, o.SHA256 = folders.count, size.n, [32]byte(digest.Sum(nil))
	return err
}

// storeSegments stores bytes behind the segments that are there.
func storeSegments(ctx context.Context, folders *fanOut, content io.Reader) error {
	b := folders.builder
	memory := segmentMemory.Get().(*segmentSpace)
	defer segmentMemory.Put(memory)
	input, space := memory.input, memory.segment // of each segment: what is stored is a copy
	input.Reset(content)
	defer input.Reset(nil)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		segment, whole, err := nextSegment(input, space)
		if err != nil {
			return err
		}
		if len(segment) == 0 {
			return nil
		}
		var blob domarkx.Blob
		if whole {
			blob.Data = segment
			err = b.storeBlob(ctx, &blob)
		} else {
			blob, err = b.large(io.MultiReader(bytes.NewReader(segment), &lineReader{input: input}))
		}
		if err == nil {
			err = folders.add(blob)
		}
		if err != nil {
			return err
		}
		if space = segment[:0]; cap(space) <= 4*segmentSize {
			memory.segment = space
		}
	}
}

// A segmentSpace is memory to read segments into. Most originals are no larger.
type segmentSpace struct {
	input   *bufio.Reader
	segment []byte
}

var segmentMemory = sync.Pool{New: func() any {
	return &segmentSpace{bufio.NewReaderSize(nil, segmentSize), make([]byte, 0, 2*segmentSize)}
}}

// nextSegment reads up to the first line end with which there are segmentSize bytes
// or more, or to the end, into the space that segment has. When that is more than fits in an ordinary blob, whole is
// false, and the rest of the line is still to be read.
func nextSegment(input *bufio.Reader, segment []byte) (_ []byte, whole bool, err error) {
	for {
		part, err := input.ReadSlice('\n')
		segment = append(segment, part...)
		switch {
		case err == io.EOF, err == nil && len(segment) >= segmentSize:
			return segment, true, nil
		case err == nil:
			continue
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, false, err
		case len(segment) > odb.LargeThreshold:
			return segment, false, nil
		}
	}
}

// A lineReader reads to the end of the line.
type lineReader struct {
	input *bufio.Reader
	part  []byte
	done  bool
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
	return n, nil
}

type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.w.Write(p)
}

// A fanOut stores files that come one after the other in folders like those of a
// conversation.
type fanOut struct {
	*builder
	levels [len(spans)][]odb.TreeEntry // the folders that are being filled, the leaf last
	count  int
}

func (f *fanOut) add(blob domarkx.Blob) error {
	leaf := len(f.levels) - 1
	var err error
	if f.levels[leaf], err = file(f.levels[leaf], twoDigits(f.count%leafWidth), blob); err != nil {
		return err
	}
	f.count++
	for level := leaf; level > 0 && f.count%spans[level-1] == 0; level-- {
		if err := f.close(level); err != nil {
			return err
		}
	}
	return nil
}

// close stores the folder of a level, if anything is in it, and enters it above.
func (f *fanOut) close(level int) error {
	if len(f.levels[level]) == 0 {
		return nil
	}
	id, err := f.makeTree(f.levels[level])
	if err != nil {
		return err
	}
	f.levels[level] = nil
	name := leafNames(leafOf(f.count - 1))[level-1]
	f.levels[level-1] = append(f.levels[level-1], odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id})
	return nil
}

// finish returns the tree of all; a zero id when nothing was added.
func (f *fanOut) finish() (odb.ID, error) {
	for level := len(f.levels) - 1; level > 0; level-- {
		if err := f.close(level); err != nil {
			return odb.ID{}, err
		}
	}
	return f.makeTree(f.levels[0])
}
