package original

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/domarkx/domarkx/gitstore/object"
)

// Grow stores a document that continues the one in a tree, and returns its tree, which equals that of a
// [Writer]. more are the additional bytes; sha256 is the digest of the whole document. Only the end of the
// stored document is read.
func Grow(ctx context.Context, out *object.Writer, tree string, more []byte, sha256 [32]byte) (string, error) {
	old, err := Read(out.Reader, tree)
	if err != nil {
		return "", err
	}
	grown, err := old.grow(ctx, out, more, sha256)
	if err != nil {
		return "", fmt.Errorf("original document: %w", err)
	}
	return grown.keep(out)
}

// grow appends bytes to a document. It writes the last segment again, since that may be incomplete.
func (d *Document) grow(ctx context.Context, out *object.Writer, more []byte, sha256 [32]byte) (*Document, error) {
	segments := newSegmentWriter(out)
	content := io.Reader(bytes.NewReader(more))
	if d.count > 0 {
		content = io.MultiReader(&reader{document: d, next: d.count - 1}, content)
		if err := segments.resume(d); err != nil {
			return nil, err
		}
	}
	if err := segments.storeAll(ctx, content); err != nil {
		return nil, err
	}
	tree, err := segments.finish()
	return &Document{Format: d.Format, Size: d.Size + int64(len(more)), SHA256: sha256, segments: tree, count: segments.count}, err
}

// A Grower stores the successive forms of a document that grows. Whole segments are stored once.
type Grower struct {
	format   string
	segments segmentWriter
	tail     []byte // after the last whole segment
	size     int64
	digest   hash.Hash
}

// NewGrower starts with an empty document. A format with other characters than a-z, 0-9 and - is
// [domarkx.ErrInvalid].
func NewGrower(out *object.Writer, format string) (*Grower, error) {
	if err := checkFormat(format); err != nil {
		return nil, err
	}
	return &Grower{format: format, segments: newSegmentWriter(out), digest: sha256.New()}, nil
}

// Append appends to the document.
func (g *Grower) Append(ctx context.Context, data []byte) error {
	g.digest.Write(data)
	g.size += int64(len(data))
	g.tail = append(g.tail, data...)
	for len(g.tail) >= segmentSize {
		end := bytes.IndexByte(g.tail[segmentSize-1:], '\n')
		if end < 0 {
			break
		}
		end += segmentSize
		if err := g.segments.store(ctx, g.tail[:end]); err != nil {
			return err
		}
		g.tail = g.tail[end:]
	}
	g.tail = slices.Clone(g.tail)
	return nil
}

// Tree returns the tree of the document as it is now.
func (g *Grower) Tree(ctx context.Context) (string, error) {
	whole := g.segments.clone()
	if len(g.tail) > 0 {
		if err := whole.store(ctx, g.tail); err != nil {
			return "", err
		}
	}
	segments, err := whole.finish()
	if err != nil {
		return "", fmt.Errorf("original document: %w", err)
	}
	d := Document{Format: g.format, Size: g.size, SHA256: [32]byte(g.digest.Sum(nil)), segments: segments, count: whole.count}
	return d.keep(whole.out)
}
