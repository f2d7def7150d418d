package gitstore

import (
	"context"
	"fmt"
	"iter"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Leaf is a directory with up to 16 consecutive messages of a snapshot. Its id depends only on what
// is in it, so snapshots share leaves.
type Leaf struct {
	ID    string
	First int // the number of its first message
}

// Leaves yields the leaves of a snapshot in order. skip, if not nil, is called with the id of each
// directory of the conversation, leaves included; directories for which it returns true are left out.
func (r reader) Leaves(ctx context.Context, id string, skip func(directory string) bool) iter.Seq2[Leaf, error] {
	return func(yield func(Leaf, error) bool) {
		root, info, err := r.root(id)
		var conversation odb.ID
		if err == nil {
			conversation, err = directory(root, "conversation")
		}
		if err == nil {
			skipped := func(_, _ int, id odb.ID) bool { return skip != nil && skip(id.String()) }
			err = r.walkExcept(ctx, conversation, info.Messages, skipped, func(number int, leaf odb.ID) error {
				if !yield(Leaf{ID: leaf.String(), First: number * leafWidth}, nil) {
					return errStopped
				}
				return nil
			})
		}
		if err != nil && err != errStopped {
			yield(Leaf{}, fmt.Errorf("snapshot %s: %w", id, err))
		}
	}
}

// LeafEntries returns the messages of a leaf.
func (r reader) LeafEntries(_ context.Context, leaf Leaf) ([]domarkx.Entry, error) {
	id, err := odb.ParseID(leaf.ID)
	if err != nil {
		return nil, err
	}
	return r.leaf(leafOf(leaf.First), id)
}
