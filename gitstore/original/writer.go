package original

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Writer stores a document step by step, so that each message can be stored directly after the part of the
// document that contains it, which makes deltas small. It must be used by the goroutine of its transaction
// only.
type Writer struct {
	document Document
	content  *segmentReader
	segments segmentWriter
}

// NewWriter starts to store a document with a known digest. A document that grew shares all segments but the
// last with its earlier version. A format with other characters than a-z, 0-9 and - is [domarkx.ErrInvalid].
func NewWriter(out *object.Writer, format string, content io.Reader, sha256 [32]byte) (*Writer, error) {
	if err := checkFormat(format); err != nil {
		return nil, err
	}
	return &Writer{document: Document{Format: format, SHA256: sha256}, content: readSegments(content), segments: newSegmentWriter(out)}, nil
}

// Continue declares that the document continues the original in a tree that a reference reaches. Common
// segments are not stored again. It must be called before anything is stored.
func (w *Writer) Continue(ctx context.Context, tree string) error {
	old, err := Read(w.segments.out.Reader, tree)
	if err != nil {
		return err
	}
	known := map[odb.ID]bool{}
	for i := 0; i < old.count; i += fanout.LeafWidth {
		if err := ctx.Err(); err != nil {
			return err
		}
		leaf, err := old.leaf(i)
		if err != nil {
			return err
		}
		for k := range min(fanout.LeafWidth, old.count-i) {
			if b, err := object.File(leaf, fanout.FileName(k)); err != nil {
				return err
			} else if id, err := odb.ParseID(b.ID); err == nil && b.Chunks == "" {
				known[id] = true
			}
		}
	}
	w.segments.known = known
	return nil
}

// Through stores the document up to byte n, and the rest of the segment there. Bytes that are stored
// already are skipped.
func (w *Writer) Through(ctx context.Context, n int64) error {
	for w.content.size < n && !w.content.ended {
		if err := w.segments.storeNext(ctx, w.content); err != nil {
			return fmt.Errorf("original document: %w", err)
		}
	}
	return nil
}

// Finish stores the rest of the document and returns its tree, to which the commit of a snapshot adds a
// note. The writer must not be used afterwards.
func (w *Writer) Finish(ctx context.Context) (string, error) {
	if err := w.Through(ctx, math.MaxInt64); err != nil {
		return "", err
	}
	var err error
	if w.document.segments, err = w.segments.files.Finish(); err != nil {
		return "", fmt.Errorf("original document: %w", err)
	}
	w.document.count, w.document.Size = w.segments.files.Count(), w.content.size
	return w.document.keep(w.segments.out)
}

// A segmentWriter stores the segments of a document.
type segmentWriter struct {
	out   *object.Writer
	files fanout.Writer
	known map[odb.ID]bool // segments that need not be stored again
}

func newSegmentWriter(out *object.Writer) segmentWriter {
	return segmentWriter{out: out, files: fanout.NewWriter(out)}
}

// store appends a segment.
func (w *segmentWriter) store(ctx context.Context, segment []byte) error {
	blob := domarkx.Blob{Data: segment}
	if err := w.out.StoreBase(ctx, &blob); err != nil {
		return fmt.Errorf("original document: %w", err)
	}
	return w.files.Add(blob)
}

// storeAll appends the segments of all content.
func (w *segmentWriter) storeAll(ctx context.Context, content io.Reader) error {
	r := readSegments(content)
	for !r.ended {
		if err := w.storeNext(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// storeNext appends the next segment, if there is one.
func (w *segmentWriter) storeNext(ctx context.Context, r *segmentReader) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	segment, whole, err := r.next()
	if err != nil || len(segment) == 0 {
		return err
	}
	var blob domarkx.Blob
	if id := w.knownID(segment, whole); !id.IsZero() {
		blob.ID = id.String()
	} else if whole {
		blob.Data = segment
		err = w.out.StoreBase(ctx, &blob)
	} else {
		rest := &lineReader{input: r.input}
		blob, err = w.out.StoreChunks(io.MultiReader(bytes.NewReader(segment), rest))
		r.size += rest.size
	}
	if err != nil {
		return err
	}
	return w.files.Add(blob)
}

// knownID returns the id of a segment that is already stored, otherwise zero.
func (w *segmentWriter) knownID(segment []byte, whole bool) odb.ID {
	if !whole || len(w.known) == 0 {
		return odb.ID{}
	}
	if id := odb.Sum(w.out.Hash(), odb.Blob, segment); w.known[id] {
		return id
	}
	return odb.ID{}
}
