package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// errNoSnapshot says that a commit is none of a session.
var errNoSnapshot = fmt.Errorf("%w: no session snapshot", domarkx.ErrCorrupt)

// Commit stores a snapshot, which no ref holds yet. Blobs of the state without an
// id are stored and get one. Of trees that the parents have nothing is written
// again. A parent of an unknown format is [domarkx.ErrUnsupported]; a state that
// cannot be stored is [domarkx.ErrInvalid].
func (tx *Tx) Commit(ctx context.Context, c domarkx.Commit) (domarkx.Info, error) {
	parents, err := tx.parents(c.Parents)
	if err != nil {
		return domarkx.Info{}, err
	}
	var conversations, dead []odb.ID
	roots, err := tx.rootsOf(parents)
	if err != nil {
		return domarkx.Info{}, err
	}
	for _, root := range roots {
		for name, ids := range map[string]*[]odb.ID{"conversation": &conversations, "deleted": &dead} {
			if id, err := folder(root, name); err != nil {
				return domarkx.Info{}, err
			} else if !id.IsZero() {
				*ids = append(*ids, id)
			}
		}
	}
	build := conversationBuilder{builder: &tx.builder, add: c.State.Thread.Live}
	conversation, err := build.node(ctx, 0, 0, odb.ID{}, conversations)
	if err != nil {
		return domarkx.Info{}, err
	}
	root, err := tx.headerTree(ctx, c.State.Headers, conversation)
	if err != nil {
		return domarkx.Info{}, err
	}
	deleted, err := tx.tombstoneTree(c.State.Thread.Dead, dead...)
	if err != nil {
		return domarkx.Info{}, err
	}
	root = withFolder(root, "conversation", conversation)
	root = withFolder(root, "deleted", deleted)
	return tx.commit(c, parents, roots, root, len(c.State.Thread.Live))
}

// rootsOf returns the root trees of the snapshots among the parents.
func (tx *Tx) rootsOf(parents ancestry) ([][]odb.TreeEntry, error) {
	roots := make([][]odb.TreeEntry, len(parents.snapshots))
	for i, p := range parents.snapshots {
		var err error
		if roots[i], err = tx.tree(p.tree); err != nil {
			return nil, err
		}
	}
	return roots, nil
}

// Append stores a snapshot that has the messages of its first parent and behind
// them those of c.State.Thread.Live; the removed messages are the parent's. The
// headers are the parent's too unless c.State.Headers has some. However long
// the session is, only the end of it is read.
func (tx *Tx) Append(ctx context.Context, c domarkx.Commit) (domarkx.Info, error) {
	parents, err := tx.parents(c.Parents)
	if err != nil {
		return domarkx.Info{}, err
	}
	if len(parents.snapshots) != 1 || len(c.State.Thread.Dead) > 0 {
		return domarkx.Info{}, fmt.Errorf("append: %w, expected one snapshot to append to and no removed message", domarkx.ErrInvalid)
	}
	roots, err := tx.rootsOf(parents)
	if err != nil {
		return domarkx.Info{}, err
	}
	root := roots[0]
	old, err := folder(root, "conversation")
	if err != nil {
		return domarkx.Info{}, err
	}
	kept := parents.infos[0].Messages
	if old.IsZero() != (kept == 0) {
		return domarkx.Info{}, fmt.Errorf("snapshot %s: conversation: %w: %d messages expected", c.Parents[0], domarkx.ErrCorrupt, kept)
	}
	build := conversationBuilder{builder: &tx.builder, kept: kept, add: c.State.Thread.Live}
	conversation := old
	if len(build.add) > 0 {
		if conversation, err = build.node(ctx, 0, 0, old, nil); err != nil {
			return domarkx.Info{}, err
		}
	}
	if c.State.Headers != nil {
		rest, err := tx.headerTree(ctx, c.State.Headers, conversation)
		if err != nil {
			return domarkx.Info{}, err
		}
		deleted, err := folder(root, "deleted")
		if err != nil {
			return domarkx.Info{}, err
		}
		root = withFolder(rest, "deleted", deleted)
	}
	return tx.commit(c, parents, roots, withFolder(root, "conversation", conversation), build.total())
}

// withFolder returns the entries with that folder; a zero id stands for none.
func withFolder(entries []odb.TreeEntry, name string, id odb.ID) []odb.TreeEntry {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e odb.TreeEntry) bool { return e.Name == name })
	if !id.IsZero() {
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: name, ID: id})
	}
	return entries
}

// An ancestry is the parents of a new snapshot.
type ancestry struct {
	ids       []odb.ID
	snapshots []*commitObject // those that are snapshots
	infos     []domarkx.Info
}

func (tx *Tx) parents(ids []string) (ancestry, error) {
	var l ancestry
	for _, id := range ids {
		oid, err := odb.ParseID(id)
		if err != nil {
			return l, fmt.Errorf("parent: %w", err)
		}
		l.ids = append(l.ids, oid)
		c, info, err := tx.snapshot(id)
		if errors.Is(err, errNoSnapshot) {
			if _, err = tx.versions().read(oid); errors.Is(err, errNoVersion) {
				err = fmt.Errorf("%w: it is neither a snapshot nor a workspace version", domarkx.ErrInvalid)
			}
			if err != nil {
				return l, fmt.Errorf("parent %s: %w", oid, err)
			}
			continue
		}
		if err != nil {
			return l, err
		}
		l.snapshots, l.infos = append(l.snapshots, c), append(l.infos, info)
	}
	return l, nil
}

// commit stores the attachments, the root tree and the commit.
func (tx *Tx) commit(c domarkx.Commit, parents ancestry, roots [][]odb.TreeEntry, root []odb.TreeEntry, messages int) (domarkx.Info, error) {
	info := domarkx.Info{Number: 1, Messages: messages, Bytes: c.Bytes, Subject: cleanSubject(c.Subject, c.Operation),
		Preview: c.Preview, Operation: c.Operation}
	for _, p := range parents.infos {
		info.Number = max(info.Number, p.Number+1)
	}
	attachments, err := tx.attachmentTree(roots, c.Attachments)
	if err != nil {
		return info, err
	}
	tree, err := tx.makeTree(withFolder(root, attachmentsName, attachments))
	if err != nil {
		return info, err
	}
	object := commitObject{tree: tree, parents: parents.ids, author: c.Author, committer: c.Committer, message: encodeMessage(info)}
	id, err := tx.keep(odb.Commit, object.encode())
	if err != nil {
		return info, err
	}
	info.ID, info.Date = id.String(), max(0, c.Committer.When.Unix())
	return info, nil
}
