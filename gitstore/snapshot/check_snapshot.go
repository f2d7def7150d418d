package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// rootNames contains the names that entries of a snapshot's root tree can have.
var rootNames = []string{"snapshot.json", "snapshot.json" + codec.ChunksSuffix, "preamble.md", "preamble.md" + codec.ChunksSuffix,
	"header", "headers", "includes", "source", "conversation", "deleted", attachmentsName}

// A snapshotBase is a snapshot that was checked. The check of another snapshot skips what the base has at the same
// place. The zero value is an empty base.
type snapshotBase struct {
	root     []odb.TreeEntry
	messages int
}

// check returns the first error in a snapshot. same is a number of messages at its beginning that are known to equal
// those of the base.
func (c *Checker) check(ctx context.Context, base snapshotBase, commit *codec.Commit, info domarkx.Info) (same int, err error) {
	root, err := c.objects.Tree(commit.Tree)
	if err != nil {
		return 0, err
	}
	known := 0
	for _, name := range rootNames {
		if odb.FindEntry(root, name).Name != "" {
			known++
		}
	}
	if known != len(root) {
		return 0, fmt.Errorf("root: %w: it has entries that no snapshot has", domarkx.ErrCorrupt)
	}
	if err := c.checkHeaders(ctx, base.root, root); err != nil {
		return 0, err
	}
	if odb.FindEntry(root, "deleted") != odb.FindEntry(base.root, "deleted") {
		if _, err := c.tombstones(root); err != nil {
			return 0, err
		}
	}
	if err := c.checkAttachments(base.root, root); err != nil {
		return 0, err
	}
	conversation, err := object.Directory(root, "conversation")
	if err != nil {
		return 0, err
	}
	if conversation.IsZero() != (info.Messages == 0) {
		return 0, fmt.Errorf("conversation: %w: %d messages expected", domarkx.ErrCorrupt, info.Messages)
	}
	if info.Messages == 0 {
		return 0, nil
	}
	before, err := object.Directory(base.root, "conversation")
	if err != nil {
		return 0, err
	}
	walk := conversationCheck{Checker: c, messages: info.Messages, before: base.messages, same: min(info.Messages, base.messages),
		seen: map[odb.ID]bool{}}
	err = walk.directory(ctx, 0, 0, conversation, before)
	return walk.same, err
}

// checkHeaders checks the headers of a snapshot that differ from those of the base.
func (c *Checker) checkHeaders(ctx context.Context, base, root []odb.TreeEntry) error {
	headers, err := c.headers(root)
	if err != nil {
		return err
	}
	if len(base) > 0 {
		before, err := c.headers(base)
		if err != nil {
			return err
		}
		for _, h := range before {
			c.trustHeader(h)
		}
	}
	for _, h := range headers {
		if err := c.checkHeader(ctx, h); err != nil {
			return err
		}
	}
	return nil
}

// trustHeader marks the blobs of a header as checked, because another check covers them.
func (c *Checker) trustHeader(h domarkx.HeaderEntry) {
	c.blobs.note(blobKey("header", h.JSON), nil)
	c.blobs.note(sourceKey(h.Layout, h.Source), nil)
	c.blobs.note(blobKey("source", domarkx.Blob{ID: h.Origin}), nil)
	c.blobs.note(blobKey("includes", domarkx.Blob{ID: h.Includes}), nil)
}

func (c *Checker) checkHeader(ctx context.Context, h domarkx.HeaderEntry) error {
	err := c.blobs.once(blobKey("header", h.JSON), func() error {
		v, err := c.value(ctx, h.JSON)
		if err == nil {
			_, err = domarkx.ParseHeader(v, true)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("snapshot.json: %w", err)
	}
	if err := c.checkSource(h.Layout, h.Source); err != nil {
		return fmt.Errorf("preamble.md: %w", err)
	}
	err = c.blobs.once(blobKey("includes", domarkx.Blob{ID: h.Includes}), func() error { return c.checkIncludes(h.Includes) })
	if err != nil || h.Origin == "" {
		return err
	}
	return c.blobs.once(blobKey("source", domarkx.Blob{ID: h.Origin}), func() error { return c.origins.Check(ctx, h.Origin) })
}

func (c *Checker) checkIncludes(tree string) error {
	included, paths, err := c.includes(tree)
	if err != nil {
		return err
	}
	for i, b := range included {
		if err := c.blobs.once(blobKey("include", b), func() error { return c.readWhole(b) }); err != nil {
			return fmt.Errorf("included file %q: %w", paths[i], err)
		}
	}
	return nil
}

// checkSource compares the author's bytes with their digest.
func (c *Checker) checkSource(l domarkx.Layout, b domarkx.Blob) error {
	if !l.Verbatim {
		return nil
	}
	return c.blobs.once(sourceKey(l, b), func() error {
		digest := sha256.New()
		size, err := c.writeWhole(digest, b)
		if err != nil {
			return err
		}
		if !bytes.Equal(digest.Sum(nil), l.Digest[:]) || size != l.Size {
			return fmt.Errorf("author's bytes: %w: SHA-256 or size is not the recorded one", domarkx.ErrCorrupt)
		}
		return nil
	})
}

func sourceKey(l domarkx.Layout, b domarkx.Blob) memoKey {
	return blobKey(fmt.Sprintf("author's bytes %x %d", l.Digest, l.Size), b)
}

func (c *Checker) value(ctx context.Context, b domarkx.Blob) (jsonvalue.Value, error) {
	if err := c.plain(b); err != nil {
		return jsonvalue.Value{}, err
	}
	data, err := c.Read(ctx, b)
	if err != nil {
		return jsonvalue.Value{}, err
	}
	v, err := jsonvalue.ParseValue(data)
	if err != nil {
		return v, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	return v, nil
}

// plain returns an error for a blob that should be stored in chunks. It reads only the blob's type and size.
func (r Reader) plain(b domarkx.Blob) error {
	id, err := odb.ParseID(b.ID)
	if err != nil {
		return err
	}
	_, size, err := r.db.Size(id)
	if err == nil && size > chunked.Threshold {
		err = fmt.Errorf("blob %s: %w: %d bytes in one piece, expected at most %d", id, domarkx.ErrCorrupt, size, chunked.Threshold)
	}
	return err
}

// writeWhole checks how content is stored, writes the content to w, and returns its size in bytes.
func (r Reader) writeWhole(w io.Writer, b domarkx.Blob) (int64, error) {
	if err := r.plain(b); err != nil {
		return 0, err
	}
	content, _, err := r.objects.Open(b)
	if err != nil {
		return 0, err
	}
	defer content.Close()
	return io.Copy(w, content)
}

// readWhole is like [Reader.writeWhole], but discards the content: it only checks it.
func (r Reader) readWhole(b domarkx.Blob) error {
	_, err := r.writeWhole(io.Discard, b)
	return err
}
