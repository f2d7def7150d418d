package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"

	"github.com/domarkx/domarkx"
)

// Continues returns the bytes that an original has after those of another one. It is not ok unless it begins with that one, which
// ends with a line. Segments that both share are not read.
func (o *Origin) Continues(ctx context.Context, old *Origin) (added []byte, ok bool, err error) {
	if old == nil || old.count == 0 || o.Format != old.Format || o.count < old.count || o.Size < old.Size {
		return nil, false, nil
	}
	for i := 0; i < old.count-1; i += leafWidth {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		ids, err := o.segmentIDs(i, old.count-1)
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
	rest, err := o.from(old.count - 1)
	if err != nil || !bytes.HasPrefix(rest, last) || !bytes.HasSuffix(last, []byte("\n")) {
		return nil, false, err
	}
	return rest[len(last):], true, nil
}

// segmentIDs returns the ids of the segments in the leaf with segment i, as far as they are before end.
func (o *Origin) segmentIDs(i, end int) ([]string, error) {
	leaf, err := o.reader.leafBelow(o.segments, i)
	if err != nil {
		return nil, err
	}
	entries, err := o.reader.tree(leaf)
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, leafWidth)
	for k := range min(leafWidth, end-i) {
		b, err := stored(entries, twoDigits(k))
		if err != nil {
			return nil, err
		}
		ids = append(ids, b.ID)
	}
	return ids, nil
}

// from returns the bytes from a segment on.
func (o *Origin) from(segment int) ([]byte, error) {
	r := &originReader{origin: o}
	var all bytes.Buffer
	for i := segment; i < o.count; i++ {
		if r.leaf == nil || i%leafWidth == 0 {
			leaf, err := o.reader.leafBelow(o.segments, i)
			if err != nil {
				return nil, err
			}
			if r.leaf, err = o.reader.tree(leaf); err != nil {
				return nil, err
			}
		}
		content, err := r.openIn(i)
		if err != nil {
			return nil, fmt.Errorf("original document, segment %d: %w", i, err)
		}
		_, err = all.ReadFrom(content)
		content.Close()
		if err != nil {
			return nil, err
		}
	}
	return all.Bytes(), nil
}

// An OriginGrower stores the successive forms of a document that grows. Whole segments are stored once.
type OriginGrower struct {
	format      string
	directories fanOut
	tail        []byte // after the last whole segment
	size        int64
	digest      hash.Hash
}

// NewOriginGrower starts with an empty document.
func (b *Builder) NewOriginGrower(format string) (*OriginGrower, error) {
	if !isFormatName(format) {
		return nil, fmt.Errorf("format name %q: %w", format, domarkx.ErrInvalid)
	}
	return &OriginGrower{format: format, directories: fanOut{Builder: b}, digest: sha256.New()}, nil
}

// Append appends to the document.
func (g *OriginGrower) Append(ctx context.Context, data []byte) error {
	g.digest.Write(data)
	g.size += int64(len(data))
	g.tail = append(g.tail, data...)
	for len(g.tail) >= segmentSize {
		end := bytes.IndexByte(g.tail[segmentSize-1:], '\n')
		if end < 0 {
			break
		}
		end += segmentSize
		if err := g.directories.store(ctx, g.tail[:end]); err != nil {
			return err
		}
		g.tail = g.tail[end:]
	}
	g.tail = slices.Clone(g.tail)
	return nil
}

// store appends a segment.
func (f *fanOut) store(ctx context.Context, segment []byte) error {
	blob := domarkx.Blob{Data: segment}
	if err := f.storeBase(ctx, &blob); err != nil {
		return fmt.Errorf("original document: %w", err)
	}
	return f.add(blob)
}

// Tree returns the tree of the document as it is now, for [domarkx.HeaderEntry].
func (g *OriginGrower) Tree(ctx context.Context) (string, error) {
	whole := g.directories
	for level, entries := range whole.levels {
		whole.levels[level] = slices.Clone(entries)
	}
	if len(g.tail) > 0 {
		if err := whole.store(ctx, g.tail); err != nil {
			return "", err
		}
	}
	segments, err := whole.finish()
	if err != nil {
		return "", fmt.Errorf("original document: %w", err)
	}
	return whole.originTree(&Origin{Format: g.format, Size: g.size, SHA256: [32]byte(g.digest.Sum(nil)), segments: segments, count: whole.count})
}
