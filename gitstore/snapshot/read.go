package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/fanout"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A Reader reads the snapshots and workspace versions of a repository. The Reader of a [Builder] also reads those that
// its update has written.
type Reader struct {
	version.Reader // of the versions of resources
	db             *odb.Database
	objects        object.Reader
	shallow        string         // path of the file with the boundary of a shallow clone
	links          *linkSearch    // nil within an update
	lastDirectory  *lastDirectory // nil within an update
}

// NewReader returns a reader of a repository. shallow is the path of the file with the boundary of a shallow clone
// (gitrepository-layout(5)), which need not exist.
func NewReader(db *odb.Database, shallow string) Reader {
	return Reader{Reader: version.NewReader(db), db: db, objects: object.NewReader(db), shallow: shallow, links: &linkSearch{}, lastDirectory: &lastDirectory{}}
}

// snapshot reads the commit of a snapshot.
func (r Reader) snapshot(id string) (*codec.Commit, domarkx.Info, error) {
	c, err := r.objects.CommitOf(id)
	if err != nil {
		return nil, domarkx.Info{}, err
	}
	id = strings.ToLower(id)
	info, err := codec.DecodeMessage(c.Message)
	if err != nil {
		return nil, domarkx.Info{}, fmt.Errorf("snapshot %s: %w", id, err)
	}
	info.ID, info.Date = id, c.Committer.When.Unix()
	return c, info, nil
}

// root reads the root tree of a snapshot.
func (r Reader) root(id string) ([]odb.TreeEntry, domarkx.Info, error) {
	c, info, err := r.snapshot(id)
	if err != nil {
		return nil, info, err
	}
	entries, err := r.objects.Tree(c.Tree)
	return entries, info, err
}

// part reads a part of a snapshot from its root tree.
func part[T any](r Reader, id string, read func(root []odb.TreeEntry) (T, error)) (part T, err error) {
	root, _, err := r.root(id)
	if err != nil {
		return part, err
	}
	if part, err = read(root); err != nil {
		err = fmt.Errorf("snapshot %s: %w", id, err)
	}
	return part, err
}

// Info returns the description of a snapshot from its commit, without the session's name. It returns
// [domarkx.ErrCorrupt] for a commit that is not a snapshot, and [domarkx.ErrUnsupported] for one of a later format.
func (r Reader) Info(_ context.Context, id string) (domarkx.Info, error) {
	_, info, err := r.snapshot(id)
	return info, err
}

// Parents returns the ids of a snapshot's parents in order: the snapshots that it continues, then the
// workspace versions to which it links.
func (r Reader) Parents(_ context.Context, id string) ([]string, error) {
	c, _, err := r.snapshot(id)
	if err != nil {
		return nil, err
	}
	return idStrings(c.Parents), nil
}

func idStrings(ids []odb.ID) []string {
	s := make([]string, len(ids))
	for i, id := range ids {
		s[i] = id.String()
	}
	return s
}

// name returns the id of a tree in hexadecimal digits, or "" if it is zero.
func name(tree odb.ID) string {
	if tree.IsZero() {
		return ""
	}
	return tree.String()
}

// Load reads a snapshot, without the contents of its blobs.
func (r Reader) Load(ctx context.Context, id string) (*domarkx.State, error) {
	state := &domarkx.State{}
	var err error
	state.Headers, state.Thread.Dead, err = r.parts(ctx, id, func(e domarkx.Entry) { state.Thread.Live = append(state.Thread.Live, e) })
	if err != nil {
		return nil, err
	}
	return state, nil
}

// LoadPacked is like Load, for a snapshot that may have many messages.
func (r Reader) LoadPacked(ctx context.Context, id string) (*domarkx.PackedState, error) {
	state := &domarkx.PackedState{}
	var err error
	if state.Headers, state.Dead, err = r.parts(ctx, id, state.Live.Append); err != nil {
		return nil, err
	}
	return state, nil
}

// parts reads a snapshot, and calls add with each message.
func (r Reader) parts(ctx context.Context, id string, add func(domarkx.Entry)) (headers []domarkx.HeaderEntry, dead []domarkx.Tombstone, err error) {
	root, info, err := r.root(id)
	if err != nil {
		return nil, nil, err
	}
	headers, err = r.headers(root)
	if err == nil {
		err = r.messages(ctx, root, info.Messages, add)
	}
	if err == nil {
		dead, err = r.tombstones(root)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("snapshot %s: %w", id, err)
	}
	return headers, dead, nil
}

// messages calls add with each message of a snapshot that has that many.
func (r Reader) messages(ctx context.Context, root []odb.TreeEntry, messages int, add func(domarkx.Entry)) error {
	conversation, err := object.Directory(root, "conversation")
	if err != nil {
		return err
	}
	n := 0
	err = r.walk(ctx, []odb.ID{conversation}, messages, nil, func(number int, leaves []odb.ID) error {
		entries, err := r.leaf(number, leaves[0])
		for _, e := range entries {
			add(e)
		}
		n += len(entries)
		return err
	})
	if err == nil && n != messages {
		err = fmt.Errorf("conversation: %w: %d messages, expected %d", domarkx.ErrCorrupt, n, messages)
	}
	return err
}

// Entries yields the messages of a snapshot in order. It keeps one leaf of them in memory. If a leaf cannot be read, it
// yields the error last.
func (r Reader) Entries(ctx context.Context, id string) iter.Seq2[domarkx.Entry, error] {
	return func(yield func(domarkx.Entry, error) bool) {
		_, err := r.leaves(ctx, id, nil, func(number int, leaf odb.ID) error {
			entries, err := r.leaf(number, leaf)
			for _, e := range entries {
				if !yield(e, nil) {
					return errStopped
				}
			}
			return err
		})
		if err != nil {
			yield(domarkx.Entry{}, err)
		}
	}
}

// Entry returns message k of a snapshot, counted from 0, without its contents. It reads no other leaf. It returns
// [domarkx.ErrNotFound] if the snapshot has no message k.
func (r Reader) Entry(ctx context.Context, id string, k int) (domarkx.Entry, error) {
	entries, messages, err := r.between(ctx, id, k, k+1)
	switch {
	case err != nil:
		return domarkx.Entry{}, err
	case k < 0 || k >= messages:
		return domarkx.Entry{}, fmt.Errorf("message %d: %w, the snapshot has %d, counted from 0", k, domarkx.ErrNotFound, messages)
	case len(entries) == 0:
		return domarkx.Entry{}, fmt.Errorf("snapshot %s: %s: %w: no message %02d", id, leafPath(fanout.Leaf(k)), domarkx.ErrCorrupt, k%fanout.LeafWidth)
	}
	return entries[0], nil
}

// EntriesBetween returns the messages of a snapshot from number from to the one before to, counted from 0. It reads few
// objects of other messages.
func (r Reader) EntriesBetween(ctx context.Context, id string, from, to int) ([]domarkx.Entry, error) {
	entries, _, err := r.between(ctx, id, from, to)
	return entries, err
}

// between is [Reader.EntriesBetween], and also returns the number of messages in the snapshot.
func (r Reader) between(ctx context.Context, id string, from, to int) (entries []domarkx.Entry, messages int, err error) {
	outside := func(first, end int, _ []odb.ID) bool { return first >= to || end <= from }
	messages, err = r.leaves(ctx, id, outside, func(number int, leaf odb.ID) error {
		some, err := r.leaf(number, leaf)
		if err == nil {
			first := number * fanout.LeafWidth
			some = some[:min(len(some), to-first)]
			entries = append(entries, some[min(len(some), max(0, from-first)):]...)
		}
		return err
	})
	return entries, messages, err
}

// Roles returns the roles of all messages in order. It reads only directories, and no message.
func (r Reader) Roles(ctx context.Context, id string) (roles []domarkx.Role, err error) {
	messages, err := r.leaves(ctx, id, nil, func(number int, leaf odb.ID) error {
		files, err := r.objects.Tree(leaf)
		for _, f := range files {
			if i, role, ok := parseMessageFile(f.Name); ok && number*fanout.LeafWidth+i == len(roles) {
				roles = append(roles, role)
			}
		}
		return err
	})
	if err == nil && len(roles) != messages {
		err = fmt.Errorf("snapshot %s: conversation: %w: %d messages, expected %d", id, domarkx.ErrCorrupt, len(roles), messages)
	}
	if err != nil {
		return nil, err
	}
	return roles, nil
}

// Read returns the content of a blob, whether it is stored in chunks or not. If b.Data is set, it returns that.
func (r Reader) Read(_ context.Context, b domarkx.Blob) ([]byte, error) {
	if b.Data != nil || b.ID == "" {
		return b.Data, nil
	}
	if b.Chunks == "" {
		id, err := odb.ParseID(b.ID)
		if err != nil {
			return nil, err
		}
		return r.objects.Blob(id)
	}
	content, size, err := r.objects.Open(b)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	var data bytes.Buffer
	data.Grow(int(min(size, 64<<20)) + bytes.MinRead)
	if _, err := data.ReadFrom(content); err != nil {
		return nil, err
	}
	return data.Bytes(), nil
}

// Open opens the content of a blob and returns its size in bytes. The caller closes the stream.
func (r Reader) Open(_ context.Context, b domarkx.Blob) (io.ReadCloser, int64, error) {
	return r.objects.Open(b)
}

// NamedInfo is like Info, with the session's name in the result and in errors.
func (r Reader) NamedInfo(ctx context.Context, name, id string) (domarkx.Info, error) {
	info, err := r.Info(ctx, id)
	if err != nil {
		return info, fmt.Errorf("session %q: %w", name, err)
	}
	info.Name = name
	return info, nil
}

// ConflictCount returns the number of conflicts in a snapshot. It does not read the contents of messages.
func (r Reader) ConflictCount(ctx context.Context, id string) (int, error) {
	n, same := 0, false
	var last domarkx.ID
	headers, _, err := r.parts(ctx, id, func(e domarkx.Entry) {
		if e.ID != last {
			same = false
		} else if !same {
			same = true
			n++
		}
		last = e.ID
	})
	if len(headers) > 1 {
		n++
	}
	return n, err
}
