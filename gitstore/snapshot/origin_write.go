package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// segmentSize is the number of bytes from which on a segment of a foreign original ends with the next
// line.
const segmentSize = 64 << 10

// An OriginWriter stores a foreign document step by step, so that each message can be stored directly after
// the part of the document that contains it, which makes deltas small. It must be used by the goroutine of
// its transaction only.
type OriginWriter struct {
	b           *Builder
	origin      Origin
	segments    *segmentReader
	directories fanOut
}

// BeginOrigin starts to store a foreign document with a known digest. A document that grew shares all
// segments but the last with its earlier version.
func (b *Builder) BeginOrigin(format string, content io.Reader, sha256 [32]byte) (*OriginWriter, error) {
	if !isFormatName(format) {
		return nil, fmt.Errorf("format name %q: %w", format, domarkx.ErrInvalid)
	}
	return &OriginWriter{b: b, origin: Origin{Format: format, SHA256: sha256}, segments: readSegments(content), directories: fanOut{Builder: b}}, nil
}

// Continue declares that the document continues the original in a tree that a reference reaches. Common
// segments are not stored again. It must be called before anything is stored.
func (w *OriginWriter) Continue(ctx context.Context, tree string) error {
	old, err := w.b.Origin(ctx, tree)
	if err != nil {
		return err
	}
	there := map[odb.ID]bool{}
	for i := 0; i < old.count; i += leafWidth {
		if err := ctx.Err(); err != nil {
			return err
		}
		id, err := w.b.leafBelow(old.segments, i)
		if err != nil {
			return err
		}
		leaf, err := w.b.tree(id)
		if err != nil {
			return err
		}
		for k := range min(leafWidth, old.count-i) {
			if b, err := stored(leaf, twoDigits(k)); err != nil {
				return err
			} else if id, err := odb.ParseID(b.ID); err == nil && b.Chunks == "" {
				there[id] = true
			}
		}
	}
	w.directories.there = there
	return nil
}

// Through stores the document up to byte n, and the rest of the segment there. Bytes that are stored
// already are skipped.
func (w *OriginWriter) Through(ctx context.Context, n int64) error {
	for w.segments.size < n && !w.segments.ended {
		if err := w.directories.segment(ctx, w.segments); err != nil {
			return fmt.Errorf("original document: %w", err)
		}
	}
	return nil
}

// Finish stores the rest of the document and returns its tree for [domarkx.HeaderEntry]. [Builder.Commit] adds
// the snapshot to that tree. The writer must not be used afterwards.
func (w *OriginWriter) Finish(ctx context.Context) (string, error) {
	defer w.segments.release()
	if err := w.Through(ctx, math.MaxInt64); err != nil {
		return "", err
	}
	var err error
	if w.origin.segments, err = w.directories.finish(); err != nil {
		return "", fmt.Errorf("original document: %w", err)
	}
	w.origin.count, w.origin.Size = w.directories.count, w.segments.size
	return w.b.originTree(&w.origin)
}

// storeSegments appends segments.
func storeSegments(ctx context.Context, directories *fanOut, content io.Reader) error {
	r := readSegments(content)
	defer r.release()
	for !r.ended {
		if err := directories.segment(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// segment stores the next segment, if there is one.
func (f *fanOut) segment(ctx context.Context, r *segmentReader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	segment, whole, err := r.next()
	if err != nil || len(segment) == 0 {
		return err
	}
	var blob domarkx.Blob
	if id := f.known(segment, whole); !id.IsZero() {
		blob.ID = id.String()
	} else if whole {
		blob.Data = segment
		err = f.storeBase(ctx, &blob)
	} else {
		rest := &lineReader{input: r.memory.input}
		blob, err = f.large(io.MultiReader(bytes.NewReader(segment), rest))
		r.size += rest.size
	}
	if err != nil {
		return err
	}
	return f.add(blob)
}

// known returns the id of a segment that is already stored, otherwise zero.
func (f *fanOut) known(segment []byte, whole bool) odb.ID {
	if !whole || len(f.there) == 0 {
		return odb.ID{}
	}
	if id := odb.Sum(odb.Blob, segment); f.there[id] {
		return id
	}
	return odb.ID{}
}

// A segmentReader divides a document into segments.
type segmentReader struct {
	memory *segmentSpace
	size   int64 // bytes of the segments read so far
	ended  bool  // whether all segments were read
}

// readSegments returns a reader, which the caller must release.
func readSegments(content io.Reader) *segmentReader {
	r := &segmentReader{memory: segmentMemory.Get().(*segmentSpace)}
	r.memory.input.Reset(content)
	return r
}

func (r *segmentReader) release() {
	r.memory.input.Reset(nil)
	if cap(r.memory.segment) > 4*segmentSize {
		r.memory.segment = make([]byte, 0, 2*segmentSize)
	}
	segmentMemory.Put(r.memory)
}

// A segmentSpace is memory for segments. Most originals are smaller.
type segmentSpace struct {
	input   *bufio.Reader
	segment []byte
}

var segmentMemory = sync.Pool{New: func() any {
	return &segmentSpace{bufio.NewReaderSize(nil, segmentSize), make([]byte, 0, 2*segmentSize)}
}}

// next returns the bytes up to the first line end after segmentSize bytes, or up to the end; the last
// segment may be empty. The slice is valid until the next call. If the segment is too large for an
// ordinary blob, whole is false, and the caller must read the rest of the line.
func (r *segmentReader) next() (segment []byte, whole bool, err error) {
	segment = r.memory.segment[:0]
	defer func() {
		r.memory.segment = segment
		r.size += int64(len(segment))
	}()
	for {
		part, err := r.memory.input.ReadSlice('\n')
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

// A counter counts the bytes that are written to another writer.
type counter struct {
	w io.Writer
	n int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.w.Write(p)
}

// A fanOut stores a sequence of files in directories that are fanned out like a conversation.
type fanOut struct {
	*Builder
	levels [len(spans)][]odb.TreeEntry // incomplete directories, the leaf last
	count  int
	there  map[odb.ID]bool // segments that need not be stored again
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

// close stores the directory of a level, unless it is empty, and adds it to its parent.
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

// finish returns the tree of all files; a zero id without files.
func (f *fanOut) finish() (odb.ID, error) {
	for level := len(f.levels) - 1; level > 0; level-- {
		if err := f.close(level); err != nil {
			return odb.ID{}, err
		}
	}
	return f.makeTree(f.levels[0])
}
