package snapshot

import (
	"context"
	"fmt"
	"iter"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/object"
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

	next  func() (*domarkx.Entry, error, bool)
	ahead *domarkx.Entry
}

// build stores the directories of a conversation with the appended messages, and returns its tree. old is the tree
// before.
func (c *conversationBuilder) build(ctx context.Context, add iter.Seq2[*domarkx.Entry, error], old odb.ID) (odb.ID, error) {
	next, stop := iter.Pull2(add)
	defer stop()
	c.next = next
	if more, err := c.more(); err != nil || !more {
		return old, err
	}
	return c.node(ctx, 0, 0, old)
}

// more reports whether another message follows.
func (c *conversationBuilder) more() (bool, error) {
	if c.ahead != nil {
		return true, nil
	}
	e, err, ok := c.next()
	if !ok || err != nil {
		return false, err
	}
	c.ahead = e
	return true, nil
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

// node stores the directory of a level that begins with message first. old is the directory before, if messages in it
// are kept.
func (c *conversationBuilder) node(ctx context.Context, level, first int, old odb.ID) (odb.ID, error) {
	if level == fanout.Levels-1 {
		return c.leaf(ctx, first, old)
	}
	var entries []odb.TreeEntry
	if !old.IsZero() {
		var err error
		if entries, err = c.Reader.directories(level, first, c.old, old); err != nil {
			return odb.ID{}, err
		}
		stay := (c.kept - first + fanout.Spans[level] - 1) / fanout.Spans[level]
		entries = entries[:min(len(entries), stay)]
	}
	span := fanout.Spans[level]
	for i := range entries {
		if first+(i+1)*span > c.kept { // the last directory, to which messages are added
			var err error
			if entries[i].ID, err = c.node(ctx, level+1, first+i*span, entries[i].ID); err != nil {
				return odb.ID{}, err
			}
		}
	}
	for i := len(entries); level == 0 || i < fanout.Width; i++ {
		if more, err := c.more(); err != nil {
			return odb.ID{}, err
		} else if !more {
			break
		}
		id, err := c.node(ctx, level+1, first+i*span, odb.ID{})
		if err != nil {
			return odb.ID{}, err
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: fanout.DirectoryName(level, i), ID: id})
	}
	return object.EncodeTree(c.out.Hash(), c.write, entries)
}

// leaf stores a leaf, from kept and appended messages.
func (c *conversationBuilder) leaf(ctx context.Context, first int, old odb.ID) (odb.ID, error) {
	var messages []domarkx.Entry
	if !old.IsZero() {
		var err error
		if messages, err = c.Reader.leaf(fanout.Leaf(first), old); err != nil {
			return odb.ID{}, err
		}
		if want := min(c.old-first, fanout.LeafWidth); len(messages) != want {
			return odb.ID{}, fmt.Errorf("%s: %w: %d messages, expected %d", leafPath(fanout.Leaf(first)), domarkx.ErrCorrupt, len(messages), want)
		}
		messages = messages[:min(len(messages), c.kept-first)]
	}
	for len(messages) < fanout.LeafWidth {
		more, err := c.more()
		if err != nil {
			return odb.ID{}, err
		}
		if !more {
			break
		}
		e := c.ahead
		c.ahead = nil
		if err := c.storeEntry(ctx, e); err != nil {
			return odb.ID{}, fmt.Errorf("message %s: %w", e.ID, err)
		}
		c.added++
		messages = append(messages, *e)
	}
	return c.writeLeaf(messages)
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
