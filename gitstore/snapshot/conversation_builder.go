package snapshot

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A conversationBuilder appends messages to a conversation tree, or creates a new one. It keeps the
// messages of one leaf in memory.
type conversationBuilder struct {
	*Builder
	old    int  // messages in the tree
	kept   int  // messages of the tree that are kept; the others are replaced
	passes bool // later steps of the update do not read the messages, which are therefore not kept in memory
	added  int  // messages appended so far

	next  func() (*domarkx.Entry, error, bool)
	ahead *domarkx.Entry
}

// build stores the directories of a conversation with appended messages. old is the tree of the
// conversation; directories of the known trees are not written again.
func (c *conversationBuilder) build(ctx context.Context, add iter.Seq2[*domarkx.Entry, error], old odb.ID, known []odb.ID) (odb.ID, error) {
	next, stop := iter.Pull2(add)
	defer stop()
	c.next = next
	if more, err := c.more(); err != nil || !more {
		return old, err
	}
	return c.node(ctx, 0, 0, old, known)
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

// write stores a part of a conversation.
func (c *conversationBuilder) write(kind odb.Type, data []byte) (odb.ID, error) {
	if c.passes {
		return c.out.WriteUnread(kind, data)
	}
	return c.out.Write(kind, data)
}

// node stores the directory of a level whose first message is first. old is its previous tree if
// messages of that are kept; known are directories at its place in other trees.
func (c *conversationBuilder) node(ctx context.Context, level, first int, old odb.ID, known []odb.ID) (odb.ID, error) {
	if level == fanout.Levels-1 {
		return c.leaf(ctx, first, old, known)
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
	knownDirectories, err := c.subdirectories(known)
	if err != nil {
		return odb.ID{}, err
	}
	span := fanout.Spans[level]
	for i := range entries {
		if first+(i+1)*span > c.kept { // the last one grows
			entries[i].ID, err = c.node(ctx, level+1, first+i*span, entries[i].ID, nil)
			if err != nil {
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
		name := fanout.DirectoryName(level, i)
		id, err := c.node(ctx, level+1, first+i*span, odb.ID{}, knownDirectories[name])
		if err != nil {
			return odb.ID{}, err
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id})
	}
	return object.EncodeTree(c.write, entries, known...)
}

// subdirectories returns the subdirectories of trees by name.
func (c *conversationBuilder) subdirectories(trees []odb.ID) (map[string][]odb.ID, error) {
	byName := map[string][]odb.ID{}
	for _, id := range trees {
		entries, err := c.Reader.objects.Tree(id)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.Mode == odb.ModeTree && !slices.Contains(byName[e.Name], e.ID) {
				byName[e.Name] = append(byName[e.Name], e.ID)
			}
		}
	}
	return byName, nil
}

// leaf stores a leaf.
func (c *conversationBuilder) leaf(ctx context.Context, first int, old odb.ID, known []odb.ID) (odb.ID, error) {
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
	return c.writeLeaf(messages, known...)
}

// storeEntry stores the parts of a message that are not stored yet.
func (c *conversationBuilder) storeEntry(ctx context.Context, e *domarkx.Entry) (err error) {
	if c.answer != nil && e.Role == domarkx.Assistant && e.JSON.ID == "" {
		defer func() {
			if err == nil {
				c.answer(e.JSON.ID, e.JSON.Data)
			}
		}()
	}
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
