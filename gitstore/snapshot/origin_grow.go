package snapshot

import (
	"context"
	"fmt"
	"io"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// GrowOrigin stores a foreign document that continues the one in a tree, and returns its tree, which
// equals that of [Builder.BeginOrigin]. more are the additional bytes; sha256 is the digest of the whole
// document. Only the end of the stored document is read.
func (b *Builder) GrowOrigin(ctx context.Context, tree string, more io.Reader, sha256 [32]byte) (string, error) {
	old, err := b.Origin(ctx, tree)
	if err != nil {
		return "", err
	}
	grown, err := old.grow(ctx, b, more, sha256)
	if err != nil {
		return "", fmt.Errorf("original document: %w", err)
	}
	return b.originTree(grown)
}

// grow appends bytes to an original. It writes the last segment again, since that may be incomplete.
func (o *Origin) grow(ctx context.Context, b *Builder, more io.Reader, sha256 [32]byte) (*Origin, error) {
	directories := fanOut{Builder: b}
	size := &counter{w: io.Discard}
	content := io.TeeReader(more, size)
	if o.count > 0 {
		r := originReader{origin: o}
		leaf, err := b.leafBelow(o.segments, o.count-1)
		if err != nil {
			return nil, err
		}
		if r.leaf, err = b.tree(leaf); err != nil {
			return nil, err
		}
		last, err := r.openIn(o.count - 1)
		if err != nil {
			return nil, err
		}
		defer last.Close()
		content = io.MultiReader(last, content)
		if err := directories.resume(o.segments, o.count-1); err != nil {
			return nil, err
		}
	}
	if err := storeSegments(ctx, &directories, content); err != nil {
		return nil, err
	}
	segments, err := directories.finish()
	return &Origin{Format: o.Format, Size: o.Size + size.n, SHA256: sha256, segments: segments, count: directories.count}, err
}

// resume loads the first count files of stored directories.
func (f *fanOut) resume(top odb.ID, count int) error {
	f.count = count
	id, leaf := top, len(f.levels)-1
	for level := range f.levels {
		entries, err := f.Reader.tree(id)
		if err != nil {
			return err
		}
		n := count / spans[level]
		if level > 0 {
			n = count % spans[level-1] / spans[level]
		}
		if level == leaf {
			for i := range n {
				b, err := stored(entries, twoDigits(i))
				if err == nil && b.ID == "" {
					err = fmt.Errorf("segment %d: %w: it is missing", count-n+i, domarkx.ErrCorrupt)
				}
				if err != nil {
					return err
				}
				if f.levels[leaf], err = file(f.levels[leaf], twoDigits(i), b); err != nil {
					return err
				}
			}
			return nil
		}
		for i := range n {
			e := odb.FindEntry(entries, directoryName(level, i))
			if !e.IsTree() {
				return fmt.Errorf("directory %s of the segments: %w: it is missing", directoryName(level, i), domarkx.ErrCorrupt)
			}
			f.levels[level] = append(f.levels[level], e)
		}
		if count%spans[level] == 0 {
			return nil // no open directory below
		}
		if id, err = directory(entries, directoryName(level, n)); err != nil {
			return err
		}
		if id.IsZero() {
			return fmt.Errorf("directory %s of the segments: %w: it is missing", directoryName(level, n), domarkx.ErrCorrupt)
		}
	}
	return nil
}
