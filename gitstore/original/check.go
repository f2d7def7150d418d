package original

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Checker compares the bytes of originals with their digests. If an original begins like one that it
// has checked, it reads only the rest.
type Checker struct {
	objects object.Reader
	write   func(io.Writer, domarkx.Blob) (int64, error)
	known   map[odb.ID][]checkedLeaf // checked originals, by the directory of their first segments
}

// maxKnown is the maximum number of cached originals.
const maxKnown = 64

// A checkedLeaf is a directory of segments with the state of the check after it.
type checkedLeaf struct {
	id       odb.ID
	segments int
	digest   hash.Cloner
	size     int64
}

// NewChecker returns a checker that has checked nothing. write checks how a segment is stored, writes its
// content, and returns the number of bytes.
func NewChecker(r object.Reader, write func(io.Writer, domarkx.Blob) (int64, error)) *Checker {
	return &Checker{objects: r, write: write, known: map[odb.ID][]checkedLeaf{}}
}

// Check compares the bytes of the original in a tree with its digest and its size. A difference is
// [domarkx.ErrCorrupt].
func (c *Checker) Check(ctx context.Context, tree string) error {
	d, err := Read(c.objects, tree)
	if err != nil {
		return err
	}
	end := checkedLeaf{digest: sha256.New().(hash.Cloner)}
	if d.count > 0 {
		if end, err = c.read(ctx, d); err != nil {
			return fmt.Errorf("original document: %w", err)
		}
	}
	if end.size != d.Size || [32]byte(end.digest.(hash.Hash).Sum(nil)) != d.SHA256 {
		return fmt.Errorf("original document: %w: its digest differs", domarkx.ErrCorrupt)
	}
	return nil
}

// read reads an original that has segments.
func (c *Checker) read(ctx context.Context, d *Document) (end checkedLeaf, err error) {
	first, err := fanout.FindLeaf(c.objects, d.segments, 0)
	if err != nil {
		return end, err
	}
	known, ok := c.known[first]
	if !ok && len(c.known) >= maxKnown {
		clear(c.known)
	}
	defer func() { c.known[first] = known }()
	end.digest = sha256.New().(hash.Cloner)
	for i := 0; i*fanout.LeafWidth < d.count; i++ {
		if err := ctx.Err(); err != nil {
			return end, err
		}
		id, err := fanout.FindLeaf(c.objects, d.segments, i*fanout.LeafWidth)
		if err != nil {
			return end, err
		}
		segments := min(fanout.LeafWidth, d.count-i*fanout.LeafWidth)
		if i < len(known) {
			if l := known[i]; l.id == id && l.segments == segments {
				end = l
				continue
			}
			known = known[:i]
		}
		if end, err = c.readLeaf(end, id, segments); err != nil {
			return end, err
		}
		known = append(known, end)
	}
	return end, nil
}

// readLeaf reads a directory of segments and continues from the given state.
func (c *Checker) readLeaf(before checkedLeaf, id odb.ID, segments int) (checkedLeaf, error) {
	digest, err := before.digest.Clone()
	if err != nil {
		return before, err
	}
	entries, err := c.objects.Tree(id)
	if err != nil {
		return before, err
	}
	size := before.size
	for i := range segments {
		b, err := segment(entries, i)
		if err != nil {
			return before, fmt.Errorf("segment %d: %w", i, err)
		}
		n, err := c.write(digest, b)
		if err != nil {
			return before, err
		}
		size += n
	}
	return checkedLeaf{id: id, segments: segments, digest: digest, size: size}, nil
}
