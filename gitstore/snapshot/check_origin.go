package snapshot

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// originChecks are checked originals, by the directory of their first segments. An original that
// continues one of them is read from where it differs.
type originChecks map[odb.ID]*originCheck

// maxOriginChecks is the maximum number of cached originals.
const maxOriginChecks = 64

// An originCheck is a checked original, as a list of its segment directories.
type originCheck struct{ leaves []originLeaf }

// An originLeaf is a directory of segments with the state of the check after it.
type originLeaf struct {
	id       odb.ID
	segments int
	digest   hash.Cloner
	size     int64
}

// checkOrigin compares the bytes of an original with their digest.
func (c *Checker) checkOrigin(ctx context.Context, tree string) error {
	origin, err := c.Origin(ctx, tree)
	if err != nil {
		return err
	}
	end := originLeaf{digest: sha256.New().(hash.Cloner)}
	if origin.count > 0 {
		if end, err = c.readOrigin(ctx, origin); err != nil {
			return fmt.Errorf("original document: %w", err)
		}
	}
	if end.size != origin.Size || [32]byte(end.digest.(hash.Hash).Sum(nil)) != origin.SHA256 {
		return fmt.Errorf("original document: %w: its digest differs", domarkx.ErrCorrupt)
	}
	return nil
}

// readOrigin reads an original that has segments.
func (c *Checker) readOrigin(ctx context.Context, o *Origin) (end originLeaf, err error) {
	first, err := c.leafBelow(o.segments, 0)
	if err != nil {
		return end, err
	}
	known := c.origins[first]
	if known == nil {
		if len(c.origins) >= maxOriginChecks {
			clear(c.origins)
		}
		known = &originCheck{}
		c.origins[first] = known
	}
	end.digest = sha256.New().(hash.Cloner)
	for i := 0; i*leafWidth < o.count; i++ {
		if err := ctx.Err(); err != nil {
			return end, err
		}
		id, err := c.leafBelow(o.segments, i*leafWidth)
		if err != nil {
			return end, err
		}
		segments := min(leafWidth, o.count-i*leafWidth)
		if i < len(known.leaves) {
			if l := known.leaves[i]; l.id == id && l.segments == segments {
				end = l
				continue
			}
			known.leaves = known.leaves[:i]
		}
		if end, err = c.readSegments(end, id, segments); err != nil {
			return end, err
		}
		known.leaves = append(known.leaves, end)
	}
	return end, nil
}

// readSegments reads a directory of segments and continues from the given state.
func (c *Checker) readSegments(before originLeaf, id odb.ID, segments int) (originLeaf, error) {
	digest, err := before.digest.Clone()
	if err != nil {
		return before, err
	}
	entries, err := c.tree(id)
	if err != nil {
		return before, err
	}
	size := counter{w: digest}
	for i := range segments {
		b, err := stored(entries, twoDigits(i))
		if err == nil && b.ID == "" {
			err = fmt.Errorf("segment %d: %w: it is missing", i, domarkx.ErrCorrupt)
		}
		if err == nil {
			err = c.stream(&size, b)
		}
		if err != nil {
			return before, err
		}
	}
	return originLeaf{id: id, segments: segments, digest: digest, size: before.size + size.n}, nil
}
