package gitstore

import (
	"context"
	"fmt"
	"math"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A conversationCheck checks the messages of one snapshot. What the base has at the
// same place is not read again.
type conversationCheck struct {
	*checker
	messages int             // of the snapshot
	before   int             // of the base
	same     int             // the first messages of both, as far as is known
	seen     map[odb.ID]bool // folders of the snapshot: ids of messages differ, so no folder stands there twice
}

// folder checks the folder of a level whose first message is first; base is the folder
// that the base has in its place, if any.
func (w *conversationCheck) folder(ctx context.Context, level, first int, id, base odb.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.seen[id] {
		return fmt.Errorf("%s: %w: its messages stand in another place too", above(level, first), domarkx.ErrCorrupt)
	}
	w.seen[id] = true
	count, countBefore := w.count(level, first, w.messages), w.count(level, first, w.before)
	if id == base && count == countBefore {
		return nil
	}
	key := blobKey(fmt.Sprintf("folder %d %d", level, count), domarkx.Blob{ID: id.String()})
	if level == len(spans)-1 || w.trees.has(key) {
		w.same = min(w.same, first)
	}
	return w.trees.once(key, func() error {
		if level == len(spans)-1 {
			return w.leaf(ctx, first, count, id, base)
		}
		folders, err := w.folders(level, first, w.messages, id)
		if err != nil {
			return err
		}
		var old []odb.TreeEntry
		if !base.IsZero() && countBefore > 0 {
			if old, err = w.folders(level, first, w.before, base); err != nil {
				return err
			}
		}
		for i, f := range folders {
			var oldID odb.ID
			if i < len(old) {
				oldID = old[i].ID
			}
			if err := w.folder(ctx, level+1, first+i*spans[level], f.ID, oldID); err != nil {
				return err
			}
		}
		return nil
	})
}

// count is how many of so many messages stand in the folder of a level that begins with
// message first.
func (*conversationCheck) count(level, first, messages int) int {
	most := math.MaxInt
	if level > 0 {
		most = spans[level-1]
	}
	return max(0, min(most, messages-first))
}

func (w *conversationCheck) leaf(ctx context.Context, first, count int, id, base odb.ID) error {
	if !base.IsZero() {
		old, err := w.readLeaf(base)
		if err != nil {
			return fmt.Errorf("%s: %w", leafPath(leafOf(first)), err)
		}
		for _, e := range old {
			w.blobs.note(entryKey(e), nil)
		}
	}
	leaf, err := w.checker.leaf(leafOf(first), id)
	if err == nil && len(leaf) != count {
		err = fmt.Errorf("%s: %w: %d messages, expected %d", leafPath(leafOf(first)), domarkx.ErrCorrupt, len(leaf), count)
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

// entryKey identifies a message and what is recorded of its bytes.
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
		return fmt.Errorf("%w: the message's role is %q, its file's name says %q", domarkx.ErrCorrupt, m.Role, e.Role)
	}
	if w.message != nil && !e.Layout.Verbatim && e.Layout.Within == 0 {
		return w.message(e, m)
	}
	return w.checkSource(e.Layout, e.Source)
}
