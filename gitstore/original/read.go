package original

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Open returns a stream of the document's bytes, which the caller closes. At its end it returns
// [domarkx.ErrCorrupt] if the digest differs.
func (d *Document) Open() (io.ReadCloser, error) {
	return &reader{document: d, digest: sha256.New()}, nil
}

type reader struct {
	document *Document
	next     int // next segment
	leaf     []odb.TreeEntry
	segment  io.ReadCloser
	size     int64
	digest   hash.Hash // nil if it does not begin with the first segment
}

func (r *reader) Read(p []byte) (int, error) {
	for {
		if r.segment != nil {
			n, err := r.segment.Read(p)
			if n > 0 {
				if r.size += int64(n); r.digest != nil {
					r.digest.Write(p[:n])
				}
				return n, nil
			}
			if err == nil {
				continue
			}
			if err != io.EOF {
				return 0, err
			}
			if err := r.Close(); err != nil {
				return 0, err
			}
		}
		if r.next == r.document.count {
			if r.digest != nil && (r.size != r.document.Size || [32]byte(r.digest.Sum(nil)) != r.document.SHA256) {
				return 0, fmt.Errorf("original document: %w: its digest differs", domarkx.ErrCorrupt)
			}
			return 0, io.EOF
		}
		var err error
		if r.segment, err = r.open(r.next); err != nil {
			return 0, fmt.Errorf("original document, segment %d: %w", r.next, err)
		}
		r.next++
	}
}

func (r *reader) Close() error {
	if r.segment == nil {
		return nil
	}
	err := r.segment.Close()
	r.segment = nil
	return err
}

// at returns segment i. It keeps the leaf directory, which is read for its first segment.
func (r *reader) at(i int) (domarkx.Blob, error) {
	if r.leaf == nil || i%fanout.LeafWidth == 0 {
		var err error
		if r.leaf, err = r.document.leaf(i); err != nil {
			return domarkx.Blob{}, err
		}
	}
	return segment(r.leaf, i)
}

// open opens segment i.
func (r *reader) open(i int) (io.ReadCloser, error) {
	b, err := r.at(i)
	if err != nil {
		return nil, err
	}
	content, _, err := r.document.objects.Open(b)
	return content, err
}

// leaf returns the directory with segment i.
func (d *Document) leaf(i int) ([]odb.TreeEntry, error) {
	id, err := fanout.FindLeaf(d.objects, d.segments, i)
	if err != nil {
		return nil, err
	}
	return d.objects.Tree(id)
}

// segment returns segment i in its leaf directory.
func segment(leaf []odb.TreeEntry, i int) (domarkx.Blob, error) {
	b, err := object.File(leaf, fanout.FileName(i%fanout.LeafWidth))
	if err == nil && b.ID == "" {
		err = fmt.Errorf("%w: it is missing", domarkx.ErrCorrupt)
	}
	return b, err
}

// Continues returns the bytes that a document has after those of an older one. ok is false unless the
// document begins with the older one, and that ends with a line end. Segments that both share are not
// read.
func (d *Document) Continues(ctx context.Context, old *Document) (added []byte, ok bool, err error) {
	if old == nil || old.count == 0 || d.Format != old.Format || d.count < old.count || d.Size < old.Size {
		return nil, false, nil
	}
	for i := 0; i < old.count-1; i += fanout.LeafWidth {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		ids, err := d.segmentIDs(i, old.count-1)
		if err != nil {
			return nil, false, err
		}
		before, err := old.segmentIDs(i, old.count-1)
		if err != nil || !slices.Equal(ids, before) {
			return nil, false, err
		}
	}
	last, err := old.from(old.count - 1)
	if err != nil {
		return nil, false, err
	}
	rest, err := d.from(old.count - 1)
	if err != nil || !bytes.HasPrefix(rest, last) || !bytes.HasSuffix(last, []byte("\n")) {
		return nil, false, err
	}
	return rest[len(last):], true, nil
}

// segmentIDs returns the ids of the segments in the leaf with segment i, as far as they are before end.
func (d *Document) segmentIDs(i, end int) ([]string, error) {
	leaf, err := d.leaf(i)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, fanout.LeafWidth)
	for k := range min(fanout.LeafWidth, end-i) {
		b, err := segment(leaf, k)
		if err != nil {
			return nil, fmt.Errorf("original document, segment %d: %w", i+k, err)
		}
		ids = append(ids, b.ID)
	}
	return ids, nil
}

// from returns the bytes from a segment on.
func (d *Document) from(segment int) ([]byte, error) {
	return io.ReadAll(&reader{document: d, next: segment})
}
