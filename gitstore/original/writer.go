package original

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

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
func (w *Writer) Continue(tree string) error {
	old, err := Read(w.segments.out.Reader, tree)
	if err != nil || old.segments.IsZero() {
		return err
	}
	return w.segments.out.Know(old.segments, fanout.Levels)
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
	if w.document.segments, err = w.segments.finish(); err != nil {
		return "", fmt.Errorf("original document: %w", err)
	}
	w.document.count, w.document.Size = w.segments.count, w.content.size
	return w.document.keep(w.segments.out)
}

// A segmentWriter stores the segments of a document.
type segmentWriter struct {
	out    *object.Writer
	leaves fanout.Writer
	leaf   []odb.TreeEntry // segments in the directory that is not full yet
	count  int
}

func newSegmentWriter(out *object.Writer) segmentWriter {
	return segmentWriter{out: out, leaves: fanout.NewWriter(out.Hash(), out.Write)}
}

// clone returns an independent writer that begins with the same segments.
func (w *segmentWriter) clone() segmentWriter {
	return segmentWriter{out: w.out, leaves: w.leaves.Clone(), leaf: slices.Clone(w.leaf), count: w.count}
}

// add appends a segment that is stored.
func (w *segmentWriter) add(blob domarkx.Blob) (err error) {
	if w.leaf, err = object.AppendFile(w.leaf, fanout.FileName(w.count%fanout.LeafWidth), blob); err != nil {
		return err
	}
	if w.count++; w.count%fanout.LeafWidth == 0 {
		return w.closeLeaf()
	}
	return nil
}

func (w *segmentWriter) closeLeaf() error {
	id, err := w.out.WriteTree(w.leaf)
	if err != nil {
		return err
	}
	w.leaf = nil
	return w.leaves.Add(id)
}

// finish returns the tree of all segments; a zero id without segments.
func (w *segmentWriter) finish() (odb.ID, error) {
	if len(w.leaf) > 0 {
		if err := w.closeLeaf(); err != nil {
			return odb.ID{}, err
		}
	}
	return w.leaves.Finish()
}

// resume begins with all segments of a document but the last one.
func (w *segmentWriter) resume(d *Document) error {
	leaf := fanout.Leaf(d.count - 1)
	if err := w.leaves.Resume(w.out.Reader, "segments", d.segments, d.count, leaf); err != nil {
		return err
	}
	r := reader{document: d}
	for w.count = leaf * fanout.LeafWidth; w.count < d.count-1; {
		b, err := r.at(w.count)
		if err == nil {
			err = w.add(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// store stores a segment and appends it.
func (w *segmentWriter) store(ctx context.Context, segment []byte) error {
	blob := domarkx.Blob{Data: segment}
	if err := w.out.StoreBase(ctx, &blob); err != nil {
		return fmt.Errorf("original document: %w", err)
	}
	return w.add(blob)
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
	if whole {
		return w.store(ctx, segment)
	}
	rest := &lineReader{input: r.input}
	blob, err := w.out.StoreChunks(io.MultiReader(bytes.NewReader(segment), rest))
	r.size += rest.size
	if err != nil {
		return err
	}
	return w.add(blob)
}
