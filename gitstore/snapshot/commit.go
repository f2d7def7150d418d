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
	"github.com/domarkx/domarkx/gitstore/version"
)

// A Builder writes snapshots and workspace versions in an update ([gitstore.Store.Update]). It is for one goroutine.
type Builder struct {
	Reader
	out    *object.Writer
	passed map[string]bool // conversation trees whose messages the update cannot read
}

// NewBuilder returns a builder that writes to batch. It reads the objects of r, and some of those in the batch.
func NewBuilder(r Reader, batch *odb.Batch) Builder {
	out := object.NewWriter(r.objects, batch)
	r.objects, r.links = out.Reader, nil
	return Builder{Reader: r, out: out, passed: map[string]bool{}}
}

// EmptyVersion stores a version of a resource that has no files. See [version.Empty].
func (b *Builder) EmptyVersion() (string, error) { return version.Empty(b.out) }

// RewriteFiles stores a version of a resource with other contents of files. See [version.Rewrite].
func (b *Builder) RewriteFiles(ctx context.Context, id string, done map[string]string, edit version.FileEdit) (string, error) {
	return version.Rewrite(ctx, b.out, id, done, edit)
}

// Commit stores a snapshot, which no ref reaches yet. It stores blobs of the state that have no id, and sets their ids.
// It does not write trees again that the parents have. It returns [domarkx.ErrUnsupported] for a parent of an unknown
// format, and [domarkx.ErrInvalid] for an invalid state.
func (b *Builder) Commit(ctx context.Context, c domarkx.Commit) (domarkx.Info, error) {
	parents, err := b.parents(c.Parents)
	if err != nil {
		return domarkx.Info{}, err
	}
	stored := c.Conversation
	switch {
	case stored == nil:
		build := conversationBuilder{Builder: b}
		if stored, err = b.storeConversation(ctx, &build, parents.roots, pointers(c.State.Thread.Live)); err != nil {
			return domarkx.Info{}, err
		}
	case len(c.State.Thread.Live) > 0:
		return domarkx.Info{}, fmt.Errorf("commit: %w: messages besides those that are stored", domarkx.ErrInvalid)
	}
	conversation, err := treeOf(stored)
	if err != nil {
		return domarkx.Info{}, err
	}
	if err := b.know(parents.roots, "deleted", 1); err != nil {
		return domarkx.Info{}, err
	}
	deleted, err := b.tombstoneTree(c.State.Thread.Dead)
	if err != nil {
		return domarkx.Info{}, err
	}
	root, err := b.rootTree(ctx, c.State.Headers, conversation, deleted)
	if err != nil {
		return domarkx.Info{}, err
	}
	return b.storeSnapshot(c, parents, parents.roots, root, stored.Messages)
}

// StoreConversation stores messages one by one, for a [Builder.Commit] with these parents. It stores blobs that have no
// id, and sets their ids. It keeps few messages in memory. In the same update, another snapshot can continue this one,
// but the stored messages cannot be read.
func (b *Builder) StoreConversation(ctx context.Context, parents []string, live iter.Seq2[*domarkx.Entry, error]) (*domarkx.StoredConversation, error) {
	ancestry, err := b.parents(parents)
	if err != nil {
		return nil, err
	}
	build := conversationBuilder{Builder: b, passes: true}
	stored, err := b.storeConversation(ctx, &build, ancestry.roots, live)
	if err == nil && stored.Tree != "" {
		b.passed[stored.Tree] = true
	}
	return stored, err
}

func (b *Builder) storeConversation(ctx context.Context, build *conversationBuilder, roots [][]odb.TreeEntry, live iter.Seq2[*domarkx.Entry, error]) (*domarkx.StoredConversation, error) {
	if err := b.know(roots, "conversation", fanout.Levels-1); err != nil {
		return nil, err
	}
	id, err := build.build(ctx, live, odb.ID{})
	if err != nil {
		return nil, err
	}
	return &domarkx.StoredConversation{Tree: name(id), Messages: build.added}, nil
}

// know prepares the builder not to store again what directories of that name in root trees have, up to that number of levels. It
// does not store objects of this update again in any case.
func (b *Builder) know(roots [][]odb.TreeEntry, name string, levels int) error {
	directories, err := directoriesNamed(roots, name)
	for _, id := range directories {
		if err == nil && !b.passed[id.String()] {
			err = b.out.Know(id, levels)
		}
	}
	return err
}

// treeOf returns the tree of a conversation, which is zero if there are no messages.
func treeOf(c *domarkx.StoredConversation) (odb.ID, error) {
	if c.Tree == "" {
		return odb.ID{}, nil
	}
	id, err := odb.ParseID(c.Tree)
	if err != nil {
		return odb.ID{}, fmt.Errorf("conversation: %w", err)
	}
	return id, nil
}

// directoriesNamed returns the different directories with a name in root trees.
func directoriesNamed(roots [][]odb.TreeEntry, name string) ([]odb.ID, error) {
	var ids []odb.ID
	for _, root := range roots {
		if id, err := object.Directory(root, name); err != nil {
			return nil, err
		} else if !id.IsZero() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Append stores a snapshot with the messages of its first parent, except the last c.Replaced of them, and after these
// the messages of c.State.Thread.Live. It keeps the parent's tombstones. It also keeps the parent's headers, unless
// c.State.Headers has some. It reads only the end of the session.
func (b *Builder) Append(ctx context.Context, c domarkx.Commit) (domarkx.Info, error) {
	parents, err := b.parents(c.Parents)
	if err != nil {
		return domarkx.Info{}, err
	}
	if len(parents.roots) != 1 || len(c.State.Thread.Dead) > 0 || c.Replaced < 0 || c.Replaced > len(c.State.Thread.Live) {
		return domarkx.Info{}, fmt.Errorf("append: %w, expected one snapshot to append to, no tombstone, and a message for each that is replaced", domarkx.ErrInvalid)
	}
	root := parents.roots[0]
	old, err := object.Directory(root, "conversation")
	if err != nil {
		return domarkx.Info{}, err
	}
	before := parents.infos[0].Messages
	if old.IsZero() != (before == 0) || c.Replaced > before {
		return domarkx.Info{}, fmt.Errorf("snapshot %s: conversation: %w: %d messages expected", c.Parents[0], domarkx.ErrCorrupt, before)
	}
	kept := before - c.Replaced
	build := conversationBuilder{Builder: b, old: before, kept: kept}
	conversation, err := build.build(ctx, pointers(c.State.Thread.Live), old)
	if err != nil {
		return domarkx.Info{}, err
	}
	if c.State.Headers == nil {
		root = object.WithDirectory(root, "conversation", conversation)
	} else if root, err = b.withHeaders(ctx, root, c.State.Headers, conversation); err != nil {
		return domarkx.Info{}, err
	}
	return b.storeSnapshot(c, parents, parents.roots, root, kept+build.added)
}

// withHeaders is [Builder.rootTree] with the tombstones in another root tree.
func (b *Builder) withHeaders(ctx context.Context, root []odb.TreeEntry, headers []domarkx.HeaderEntry, conversation odb.ID) ([]odb.TreeEntry, error) {
	deleted, err := object.Directory(root, "deleted")
	if err != nil {
		return nil, err
	}
	return b.rootTree(ctx, headers, conversation, deleted)
}

// An ancestry holds the values that a new snapshot takes from its parents.
type ancestry struct {
	ids   []odb.ID
	roots [][]odb.TreeEntry // of the parents that are snapshots
	infos []domarkx.Info
}

func (b *Builder) parents(ids []string) (ancestry, error) {
	var l ancestry
	for _, id := range ids {
		oid, err := odb.ParseID(id)
		if err != nil {
			return l, fmt.Errorf("parent: %w", err)
		}
		l.ids = append(l.ids, oid)
		c, info, err := b.snapshot(id)
		if errors.Is(err, codec.ErrNoSnapshot) {
			if _, _, _, err = b.version(id); errors.Is(err, codec.ErrNoVersion) {
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
		root, err := b.objects.Tree(c.Tree)
		if err != nil {
			return l, err
		}
		l.roots, l.infos = append(l.roots, root), append(l.infos, info)
	}
	return l, nil
}

// storeSnapshot stores the attachments, the root tree and the commit of a snapshot.
func (b *Builder) storeSnapshot(c domarkx.Commit, parents ancestry, roots [][]odb.TreeEntry, root []odb.TreeEntry, messages int) (domarkx.Info, error) {
	info := domarkx.Info{Number: 1, Messages: messages, Bytes: c.Bytes, Subject: codec.CleanSubject(c.Subject, c.Operation),
		Preview: c.Preview, Operation: c.Operation, Replacement: c.Replacement}
	for _, p := range parents.infos {
		info.Number = max(info.Number, p.Number+1)
	}
	records, err := b.storeFiles(roots, c.Files)
	if err != nil {
		return info, err
	}
	if c.Kept != nil {
		roots = nil
	}
	attachments, err := b.attachmentTree(roots, slices.Concat(c.Attachments, c.Kept, records))
	if err != nil {
		return info, err
	}
	tree, err := b.out.WriteTree(object.WithDirectory(root, attachmentsName, attachments))
	if err != nil {
		return info, err
	}
	object := codec.Commit{Tree: tree, Parents: parents.ids, Author: c.Author, Committer: c.Committer, Message: codec.EncodeMessage(info)}
	id, err := b.out.WriteCommit(&object)
	if err != nil {
		return info, err
	}
	info.ID, info.Date = id.String(), max(0, c.Committer.When.Unix())
	return info, nil
}
