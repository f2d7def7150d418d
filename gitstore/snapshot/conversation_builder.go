package snapshot

import (
	"context"
	"fmt"
	"iter"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A conversationBuilder creates a conversation tree, or appends messages to one. It keeps the messages of one leaf in
// memory.
type conversationBuilder struct {
	*Builder
	old    int  // number of messages in the tree
	kept   int  // number of messages at the beginning of the tree that are kept; the others are replaced
	passes bool // whether the update does not read the messages later, so that they are not kept in memory
	added  int  // number of messages appended so far
}

// build stores the directories of a conversation with the appended messages, and returns its tree. old is the tree
// before.
func (c *conversationBuilder) build(ctx context.Context, add iter.Seq2[*domarkx.Entry, error], old odb.ID) (odb.ID, error) {
	tree := fanout.NewWriter(c.out.Hash(), c.write)
	var leaf []domarkx.Entry
	end := func() error {
		id, err := c.writeLeaf(leaf)
		if err != nil {
			return err
		}
		leaf = leaf[:0]
		return tree.Add(id)
	}
	for e, err := range add {
		if err == nil && c.added == 0 {
			leaf, err = c.resume(&tree, old)
		}
		if err != nil {
			return odb.ID{}, err
		}
		if err := c.storeEntry(ctx, e); err != nil {
			return odb.ID{}, fmt.Errorf("message %s: %w", e.ID, err)
		}
		c.added++
		if leaf = append(leaf, *e); len(leaf) < fanout.LeafWidth {
			continue
		}
		if err := end(); err != nil {
			return odb.ID{}, err
		}
	}
	if c.added == 0 {
		return old, nil
	}
	if len(leaf) > 0 {
		if err := end(); err != nil {
			return odb.ID{}, err
		}
	}
	return tree.Finish()
}

// resume makes the tree begin with the kept leaves, and returns the kept messages of the next leaf.
func (c *conversationBuilder) resume(tree *fanout.Writer, old odb.ID) ([]domarkx.Entry, error) {
	number := fanout.Leaf(c.kept)
	if c.kept == 0 {
		return nil, nil
	}
	if err := tree.Resume(c.objects, "conversation", old, c.old, number); err != nil {
		return nil, err
	}
	first := number * fanout.LeafWidth
	if c.kept == first {
		return nil, nil
	}
	id, err := fanout.FindLeaf(c.objects, old, first)
	if err != nil {
		return nil, err
	}
	leaf, err := c.Reader.leaf(number, id)
	if want := min(c.old-first, fanout.LeafWidth); err == nil && len(leaf) != want {
		err = fmt.Errorf("%s: %w: %d messages, expected %d", leafPath(number), domarkx.ErrCorrupt, len(leaf), want)
	}
	if err != nil {
		return nil, err
	}
	return leaf[:c.kept-first], nil
}

// pointers returns pointers to the entries of a list.
func pointers(list []domarkx.Entry) iter.Seq2[*domarkx.Entry, error] {
	return func(yield func(*domarkx.Entry, error) bool) {
		for i := range list {
			if !yield(&list[i], nil) {
				return
			}
		}
	}
}

// write stores an object.
func (c *conversationBuilder) write(kind odb.Type, data []byte) (odb.ID, error) {
	if c.passes {
		return c.out.WriteUnread(kind, data)
	}
	return c.out.Write(kind, data)
}

// storeEntry stores the parts of a message that are not stored yet, and sets their ids.
func (c *conversationBuilder) storeEntry(ctx context.Context, e *domarkx.Entry) error {
	if e.Layout.Verbatim != !e.Source.IsZero() || e.JSON.IsZero() {
		return fmt.Errorf("%w: no content, or author's bytes without being verbatim", domarkx.ErrInvalid)
	}
	if !e.Layout.Verbatim {
		return c.out.StoreBlob(ctx, &e.JSON)
	}
	if err := c.out.StoreBase(ctx, &e.JSON); err != nil {
		return err
	}
	return c.out.StoreBlob(ctx, &e.Source)
}
