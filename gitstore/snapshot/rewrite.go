package snapshot

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Rewritten is the new form of a directory of messages.
type Rewritten struct {
	Tree        string
	Changed     bool
	Grown       int64 // by how many bytes its messages became longer, as documents show them
	Odd         bool  // whether Grown is not the whole difference, because of conflicts or included files
	First, Last domarkx.Entry
}

// Rewritings contains the new forms of directories of messages, by the ids of the directories. Snapshots that share
// directories also share Rewritings, so that each directory is read once.
type Rewritings map[string]Rewritten

// A LeafEdit changes the messages of a leaf in place. It returns whether it has changed any, by how many bytes they
// became longer, and [Rewritten.Odd].
type LeafEdit func(messages []domarkx.Entry) (changed bool, grown int64, odd bool, err error)

// RewriteConversation stores the messages of a snapshot as edit changes them, and returns the new form of the
// conversation.
func (b *Builder) RewriteConversation(ctx context.Context, snapshot string, done Rewritings, edit LeafEdit) (*domarkx.StoredConversation, Rewritten, error) {
	root, info, err := b.root(snapshot)
	if err != nil {
		return nil, Rewritten{}, err
	}
	old, err := object.Directory(root, "conversation")
	if err != nil || old.IsZero() {
		return &domarkx.StoredConversation{}, Rewritten{}, err
	}
	w := conversationRewriter{Builder: b, messages: info.Messages, done: done, edit: edit}
	now, err := w.directory(ctx, 0, 0, old)
	return &domarkx.StoredConversation{Tree: now.Tree, Messages: info.Messages}, now, err
}

type conversationRewriter struct {
	*Builder
	messages int
	done     Rewritings
	edit     LeafEdit
}

func (w *conversationRewriter) directory(ctx context.Context, level, first int, id odb.ID) (now Rewritten, err error) {
	if now, ok := w.done[id.String()]; ok {
		return now, nil
	}
	if err := ctx.Err(); err != nil {
		return Rewritten{}, err
	}
	if level < fanout.Levels-1 {
		now, err = w.node(ctx, level, first, id)
	} else {
		now, err = w.leaf(ctx, first, id)
	}
	if err == nil {
		w.done[id.String()] = now
	}
	return now, err
}

func (w *conversationRewriter) node(ctx context.Context, level, first int, id odb.ID) (Rewritten, error) {
	entries, err := w.directories(level, first, w.messages, id)
	if err != nil {
		return Rewritten{}, err
	}
	entries = slices.Clone(entries)
	now, changed := Rewritten{Tree: id.String()}, false
	for i, e := range entries {
		below, err := w.directory(ctx, level+1, first+i*fanout.Spans[level], e.ID)
		if err != nil {
			return now, err
		}
		if i == 0 {
			now.First = below.First
		}
		now.Grown, now.Odd = now.Grown+below.Grown, now.Odd || below.Odd || i > 0 && below.First.ID == now.Last.ID
		now.Last = below.Last
		if below.Tree == e.ID.String() {
			continue
		}
		changed = true
		if entries[i].ID, err = odb.ParseID(below.Tree); err != nil {
			return now, err
		}
	}
	if changed {
		tree, err := w.out.WriteTree(entries)
		now.Tree, now.Changed = tree.String(), true
		return now, err
	}
	return now, nil
}

func (w *conversationRewriter) leaf(ctx context.Context, first int, id odb.ID) (Rewritten, error) {
	messages, err := w.Reader.leaf(fanout.Leaf(first), id)
	if err != nil {
		return Rewritten{}, err
	}
	now := Rewritten{Tree: id.String()}
	changed, grown, odd, err := w.edit(messages)
	if err != nil {
		return now, err
	}
	now.Grown, now.Odd, now.First, now.Last = grown, odd, messages[0], messages[len(messages)-1]
	if changed {
		build := conversationBuilder{Builder: w.Builder}
		for i := range messages {
			if err := build.storeEntry(ctx, &messages[i]); err != nil {
				return now, fmt.Errorf("message %s: %w", messages[i].ID, err)
			}
		}
		tree, err := build.writeLeaf(messages)
		now.Tree, now.Changed = tree.String(), true
		return now, err
	}
	return now, nil
}

// Rewrite stores a snapshot that replaces another one. It has the commit's conversation and headers, and the tombstones
// of the other snapshot. It has the commit's Kept attachments, or all attachments of the other snapshot if Kept is nil.
func (b *Builder) Rewrite(ctx context.Context, snapshot string, c domarkx.Commit) (domarkx.Info, error) {
	parents, err := b.parents(c.Parents)
	if err != nil {
		return domarkx.Info{}, err
	}
	old, _, err := b.root(snapshot)
	if err != nil {
		return domarkx.Info{}, err
	}
	conversation, err := treeOf(c.Conversation)
	if err != nil {
		return domarkx.Info{}, err
	}
	root, err := b.withHeaders(ctx, old, c.State.Headers, conversation)
	if err != nil {
		return domarkx.Info{}, err
	}
	return b.storeSnapshot(c, parents, [][]odb.TreeEntry{old}, root, c.Conversation.Messages)
}

// writeLeaf stores the directory of a leaf.
func (c *conversationBuilder) writeLeaf(messages []domarkx.Entry) (odb.ID, error) {
	lines, err := codec.EncodeEntries(messages)
	if err != nil {
		return odb.ID{}, err
	}
	entries := make([]odb.TreeEntry, 0, 2*len(messages)+1)
	for i, e := range messages {
		if entries, err = object.AppendFile(entries, messageFile(i, e.Role), e.JSON); err != nil {
			return odb.ID{}, err
		}
		if e.Layout.Verbatim {
			if entries, err = object.AppendFile(entries, sourceFile(i), e.Source); err != nil {
				return odb.ID{}, err
			}
		}
	}
	entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: "entries", ID: odb.Sum(c.out.Hash(), odb.Blob, lines)})
	id, err := object.EncodeTree(c.out.Hash(), c.write, entries)
	if err == nil && !c.out.Knows(id) {
		_, err = c.write(odb.Blob, lines)
	}
	return id, err
}
