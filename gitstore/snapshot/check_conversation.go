package snapshot

import (
	"context"
	"fmt"
	"math"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A conversationCheck checks the messages of a snapshot. It skips those that the base, a snapshot that was checked, has
// at the same place.
type conversationCheck struct {
	*Checker
	messages int             // number of messages in the snapshot
	before   int             // number of messages in the base
	same     int             // number of messages at the beginning of both that are known to be equal
	seen     map[odb.ID]bool // directories of the snapshot: none can occur twice, since the ids of messages differ
}

// directory checks the directory of a level that begins with message first. base is the directory at its place in the
// base, or zero.
func (w *conversationCheck) directory(ctx context.Context, level, first int, id, base odb.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.seen[id] {
		return fmt.Errorf("%s: %w: its messages are also in another place", fanout.Path("conversation", level, first), domarkx.ErrCorrupt)
	}
	w.seen[id] = true
	count, countBefore := w.count(level, first, w.messages), w.count(level, first, w.before)
	if id == base && count == countBefore {
		return nil
	}
	key := blobKey(fmt.Sprintf("directory %d %d", level, count), domarkx.Blob{ID: id.String()})
	if _, done := w.trees[key]; done || level == fanout.Levels-1 {
		w.same = min(w.same, first)
	}
	return w.trees.once(key, func() error {
		if level == fanout.Levels-1 {
			return w.leaf(ctx, first, count, id, base)
		}
		directories, err := w.directories(level, first, w.messages, id)
		if err != nil {
			return err
		}
		var old []odb.TreeEntry
		if !base.IsZero() && countBefore > 0 {
			if old, err = w.directories(level, first, w.before, base); err != nil {
				return err
			}
		}
		for i, f := range directories {
			var oldID odb.ID
			if i < len(old) {
				oldID = old[i].ID
			}
			if err := w.directory(ctx, level+1, first+i*fanout.Spans[level], f.ID, oldID); err != nil {
				return err
			}
		}
		return nil
	})
}

// count returns how many of a conversation's messages belong to the directory of a level that begins with message
// first.
func (*conversationCheck) count(level, first, messages int) int {
	most := math.MaxInt
	if level > 0 {
		most = fanout.Spans[level-1]
	}
	return max(0, min(most, messages-first))
}

func (w *conversationCheck) leaf(ctx context.Context, first, count int, id, base odb.ID) error {
	if !base.IsZero() {
		old, err := w.readLeaf(base)
		if err != nil {
			return fmt.Errorf("%s: %w", leafPath(fanout.Leaf(first)), err)
		}
		for _, e := range old {
			w.blobs.note(entryKey(e), nil)
		}
	}
	leaf, err := w.Checker.leaf(fanout.Leaf(first), id)
	if err == nil && len(leaf) != count {
		err = fmt.Errorf("%s: %w: %d messages, expected %d", leafPath(fanout.Leaf(first)), domarkx.ErrCorrupt, len(leaf), count)
	}
	if err != nil {
		return err
	}
	for i, e := range leaf {
		w.noteLink(e)
		if err := w.blobs.once(entryKey(e), func() error { return w.entry(ctx, e) }); err != nil {
			return fmt.Errorf("message %d: %w", first+i, err)
		}
	}
	return nil
}

// entryKey returns the key for the check of a message with its recorded digests.
func entryKey(e domarkx.Entry) memoKey {
	l := e.Layout
	as := fmt.Sprintf("message %s %x %d %t %d %s %s", e.Role, l.Digest, l.Size, l.Verbatim, l.Within, e.Source.ID, e.Source.Chunks)
	return blobKey(as, e.JSON)
}

// entry checks a message.
func (w *conversationCheck) entry(ctx context.Context, e domarkx.Entry) error {
	v, err := w.value(ctx, e.JSON)
	if err != nil {
		return err
	}
	m, err := domarkx.ParseMessage(v, "")
	if err != nil {
		return fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	if m.Role != e.Role {
		return fmt.Errorf("%w: the message's role is %q, in its file name it is %q", domarkx.ErrCorrupt, m.Role, e.Role)
	}
	if w.message != nil && !e.Layout.Verbatim && e.Layout.Within == 0 {
		return w.message(e, m)
	}
	return w.checkSource(e.Layout, e.Source)
}
