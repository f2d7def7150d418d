package snapshot

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// walk calls visit with each leaf of a conversation, in order, except for those in directories for which skip returns true.
// messages is the number of its messages. skip, unless nil, is called with the range of the messages that a directory can
// contain: from first to the one before end. Of several conversations with equally many messages, it visits the directories at
// the same place together.
func (r Reader) walk(ctx context.Context, conversations []odb.ID, messages int, skip func(first, end int, ids []odb.ID) bool, visit func(number int, leaves []odb.ID) error) error {
	if slices.ContainsFunc(conversations, odb.ID.IsZero) {
		if messages == 0 {
			return nil
		}
		return fmt.Errorf("conversation: %w: it is missing", domarkx.ErrCorrupt)
	}
	var level func(depth, first, end int, ids []odb.ID) error
	level = func(depth, first, end int, ids []odb.ID) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		if skip != nil && skip(first, end, ids) {
			return nil
		}
		if depth == fanout.Levels-1 {
			return visit(fanout.Leaf(first), ids)
		}
		var below [][]odb.ID // by the number of a directory
		for k, id := range ids {
			directories, err := r.directories(depth, first, messages, id)
			if err != nil {
				return err
			}
			if k == 0 {
				below = make([][]odb.ID, len(directories))
			}
			for i, e := range directories {
				below[i] = append(below[i], e.ID)
			}
		}
		for i, ids := range below {
			begin := first + i*fanout.Spans[depth]
			if err := level(depth+1, begin, begin+fanout.Spans[depth], ids); err != nil {
				return err
			}
		}
		return nil
	}
	return level(0, 0, messages, conversations)
}

// errStopped is the error with which a callback ends a walk early.
var errStopped = errors.New("stopped")

// leaves is [Reader.walk] for a snapshot. It returns the number of its messages.
func (r Reader) leaves(ctx context.Context, snapshot string, skip func(first, end int, ids []odb.ID) bool, visit func(number int, leaf odb.ID) error) (int, error) {
	root, info, err := r.root(snapshot)
	if err != nil {
		return 0, err
	}
	conversation, err := object.Directory(root, "conversation")
	if err == nil {
		err = r.walk(ctx, []odb.ID{conversation}, info.Messages, skip, func(number int, leaves []odb.ID) error { return visit(number, leaves[0]) })
	}
	if err != nil && err != errStopped {
		return info.Messages, fmt.Errorf("snapshot %s: %w", snapshot, err)
	}
	return info.Messages, nil
}

// directories returns the subdirectories, in order, of the directory of a level that begins with message first.
// messages is the number of messages in the conversation.
func (r Reader) directories(level, first, messages int, id odb.ID) ([]odb.TreeEntry, error) {
	return fanout.Directories(r.objects, "conversation", level, first, messages, id)
}

// leaf reads the messages of a leaf.
func (r Reader) leaf(number int, id odb.ID) ([]domarkx.Entry, error) {
	leaf, err := r.readLeaf(id)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", leafPath(number), err)
	}
	return leaf, nil
}

func (r Reader) readLeaf(id odb.ID) ([]domarkx.Entry, error) {
	files, err := r.objects.Tree(id)
	if err != nil {
		return nil, err
	}
	lines, err := r.objects.SmallFile(files, "entries")
	if err != nil {
		return nil, err
	}
	leaf, err := codec.DecodeEntries(lines)
	if err != nil {
		return nil, fmt.Errorf("entries: %w", err)
	}
	named := 1
	plain := len(files) == 1+len(leaf) // without additional files, no message has parts in files of their own
	for j, f := range files {
		i, role, ok := parseMessageFile(f.Name)
		if !ok || i >= len(leaf) || leaf[i].Role != "" {
			continue
		}
		e, all := &leaf[i], files
		if plain {
			all = files[j : j+1]
		}
		e.Role = role
		if e.JSON, err = object.File(all, f.Name); err != nil {
			return nil, err
		}
		if e.Source, err = object.File(all, sourceFile(i)); err != nil {
			return nil, err
		}
		e.Layout.Verbatim = e.Source.ID != ""
		for _, b := range []domarkx.Blob{e.JSON, e.Source} {
			if b.ID != "" {
				named++
			}
			if b.Chunks != "" {
				named++
			}
		}
	}
	for i, e := range leaf {
		if e.Role == "" {
			return nil, fmt.Errorf("%w: no file of message %02d", domarkx.ErrCorrupt, i)
		}
	}
	if named != len(files) || len(leaf) == 0 {
		return nil, fmt.Errorf("%w: %d files, expected %d for %d messages", domarkx.ErrCorrupt, len(files), named, len(leaf))
	}
	return leaf, nil
}

// LeafWidth is the number of messages in each leaf of a snapshot, except for the last leaf, which may have fewer.
const LeafWidth = fanout.LeafWidth

// A Leaf is a directory with up to 16 consecutive messages of a snapshot. Its id depends only on its content, so that
// snapshots with the same messages share leaves.
type Leaf struct {
	ID    string
	First int // number of its first message, from 0
}

// Leaves yields the leaves of a snapshot in order. If skip is not nil, it is called with the id of each directory of
// the conversation, including leaves. Leaves omits the directories for which skip returns true.
func (r Reader) Leaves(ctx context.Context, id string, skip func(directory string) bool) iter.Seq2[Leaf, error] {
	return func(yield func(Leaf, error) bool) {
		skipped := func(_, _ int, ids []odb.ID) bool { return skip != nil && skip(ids[0].String()) }
		_, err := r.leaves(ctx, id, skipped, func(number int, leaf odb.ID) error {
			if !yield(Leaf{ID: leaf.String(), First: number * fanout.LeafWidth}, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil {
			yield(Leaf{}, err)
		}
	}
}

// LeavesBetween returns the leaves of a snapshot that contain the messages from number from to the one before to,
// counted from 0. It reads few objects of other leaves.
func (r Reader) LeavesBetween(ctx context.Context, id string, from, to int) (leaves []Leaf, err error) {
	outside := func(first, end int, _ []odb.ID) bool { return from >= to || first >= to || end <= from }
	_, err = r.leaves(ctx, id, outside, func(number int, leaf odb.ID) error {
		leaves = append(leaves, Leaf{ID: leaf.String(), First: number * fanout.LeafWidth})
		return nil
	})
	return leaves, err
}

// LeafEntries returns the messages of a leaf.
func (r Reader) LeafEntries(_ context.Context, leaf Leaf) ([]domarkx.Entry, error) {
	id, err := odb.ParseID(leaf.ID)
	if err != nil {
		return nil, err
	}
	return r.leaf(fanout.Leaf(leaf.First), id)
}

// LeafPairs yields, in order, pairs of leaves at the same place in two snapshots. The snapshots have the same messages
// in different forms. LeafPairs omits leaves that are equal. seen is called with each pair of directories that differ;
// LeafPairs omits the pairs for which it returns true. It returns [domarkx.ErrInvalid] if the snapshots do not have
// equally many messages.
func (r Reader) LeafPairs(ctx context.Context, a, b string, seen func(a, b string) bool) iter.Seq2[[2]Leaf, error] {
	return func(yield func([2]Leaf, error) bool) {
		tops := make([]odb.ID, 2)
		var messages int
		for i, id := range []string{a, b} {
			root, info, err := r.root(id)
			if err == nil {
				tops[i], err = object.Directory(root, "conversation")
			}
			if err == nil && i > 0 && info.Messages != messages {
				err = fmt.Errorf("%w: %d messages, expected %d", domarkx.ErrInvalid, info.Messages, messages)
			}
			if err != nil {
				yield([2]Leaf{}, fmt.Errorf("snapshot %s: %w", id, err))
				return
			}
			messages = info.Messages
		}
		known := func(_, _ int, ids []odb.ID) bool {
			return ids[0] == ids[1] || seen(ids[0].String(), ids[1].String())
		}
		err := r.walk(ctx, tops, messages, known, func(number int, leaves []odb.ID) error {
			first := number * fanout.LeafWidth
			if !yield([2]Leaf{{leaves[0].String(), first}, {leaves[1].String(), first}}, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield([2]Leaf{}, err)
		}
	}
}
