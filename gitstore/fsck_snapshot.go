package gitstore

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// rootNames are the entries that the root of a snapshot can have.
var rootNames = []string{"snapshot.json", "snapshot.json" + chunksSuffix, "preamble.md", "preamble.md" + chunksSuffix,
	"header", "headers", "includes", "source", "conversation", "deleted", attachmentsName}

// check reports the first thing that is wrong with a snapshot.
func (c *checker) check(ctx context.Context, commit *commitObject, info domarkx.Info) error {
	root, err := c.tree(commit.tree)
	if err != nil {
		return err
	}
	known := 0
	for _, name := range rootNames {
		if find(root, name).Name != "" {
			known++
		}
	}
	if known != len(root) {
		return fmt.Errorf("root: %w: it has entries that no snapshot has", domarkx.ErrCorrupt)
	}
	headers, err := c.headers(root)
	if err != nil {
		return err
	}
	for _, h := range headers {
		if err := c.checkHeader(ctx, h); err != nil {
			return err
		}
	}
	if _, err := c.tombstones(root); err != nil {
		return err
	}
	if err := c.checkAttachments(root); err != nil {
		return err
	}
	conversation, err := folder(root, "conversation")
	if err != nil {
		return err
	}
	if conversation.IsZero() != (info.Messages == 0) {
		return fmt.Errorf("conversation: %w: %d messages expected", domarkx.ErrCorrupt, info.Messages)
	}
	if info.Messages == 0 {
		return nil
	}
	return c.checkFolder(ctx, 0, 0, info.Messages, conversation)
}

// checkFolder checks a folder of a conversation of so many messages, whose first
// message is first.
func (c *checker) checkFolder(ctx context.Context, level, first, messages int, id odb.ID) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	key := treeKey{id, level, messages - first}
	if level > 0 {
		key.messages = min(key.messages, spans[level-1])
	}
	if c.trees[key] {
		return nil
	}
	if level == len(spans)-1 {
		leaf, err := c.leaf(leafOf(first), id)
		if err == nil && len(leaf) != key.messages {
			err = fmt.Errorf("%s: %w: %d messages, expected %d", leafPath(leafOf(first)), domarkx.ErrCorrupt, len(leaf), key.messages)
		}
		if err != nil {
			return err
		}
		for i, e := range leaf {
			c.noteLink(e)
			if err := c.checkEntry(ctx, e); err != nil {
				return fmt.Errorf("message %d: %w", first+i, err)
			}
		}
	} else {
		folders, err := c.folders(level, first, messages, id)
		if err != nil {
			return err
		}
		for i, f := range folders {
			if err := c.checkFolder(ctx, level+1, first+i*spans[level], messages, f.ID); err != nil {
				return err
			}
		}
	}
	c.trees[key] = true
	return nil
}

func (c *checker) checkEntry(ctx context.Context, e domarkx.Entry) error {
	err := c.once("message "+string(e.Role), e.JSON, func() error {
		v, err := c.value(ctx, e.JSON)
		if err != nil {
			return err
		}
		m, err := domarkx.ParseMessage(v, "")
		if err == nil && m.Role != e.Role {
			err = fmt.Errorf("%w: the message's role is %q, its file's name says %q", domarkx.ErrCorrupt, m.Role, e.Role)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.checkSource(e.Layout, e.Source)
}

func (c *checker) checkHeader(ctx context.Context, h domarkx.HeaderEntry) error {
	err := c.once("header", h.JSON, func() error {
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
	included, paths, err := c.includes(h.Includes)
	if err != nil {
		return err
	}
	for i, b := range included {
		if err := c.once("include", b, func() error { return c.stream(io.Discard, b) }); err != nil {
			return fmt.Errorf("included file %q: %w", paths[i], err)
		}
	}
	if h.Origin == "" {
		return nil
	}
	return c.once("source", domarkx.Blob{ID: h.Origin}, func() error {
		origin, err := c.Origin(ctx, h.Origin)
		if err != nil {
			return err
		}
		content, err := origin.Open()
		if err != nil {
			return err
		}
		defer content.Close()
		_, err = io.Copy(io.Discard, content)
		return err
	})
}

// checkSource compares author's bytes with their digest.
func (c *checker) checkSource(l domarkx.Layout, b domarkx.Blob) error {
	if !l.Verbatim {
		return nil
	}
	return c.once(fmt.Sprintf("source %x %d", l.Digest, l.Size), b, func() error {
		digest := sha256.New()
		size := counter{w: digest}
		if err := c.stream(&size, b); err != nil {
			return err
		}
		if !bytes.Equal(digest.Sum(nil), l.Digest[:]) || size.n != l.Size {
			return fmt.Errorf("author's bytes: %w: SHA-256 or size is not the recorded one", domarkx.ErrCorrupt)
		}
		return nil
	})
}

// once runs a check of a blob used as something, or returns what it gave before.
func (c *checker) once(as string, b domarkx.Blob, check func() error) error {
	key := strings.Join([]string{as, b.ID, b.Chunks}, " ")
	err, done := c.blobs[key]
	if !done {
		err = check()
		c.blobs[key] = err
	}
	return err
}

func (c *checker) value(ctx context.Context, b domarkx.Blob) (domarkx.Value, error) {
	data, err := c.Read(ctx, b)
	if err != nil {
		return domarkx.Value{}, err
	}
	v, err := domarkx.ParseValue(data)
	if err != nil {
		return v, fmt.Errorf("%w: %w", domarkx.ErrCorrupt, err)
	}
	return v, nil
}

func (c *checker) stream(w io.Writer, b domarkx.Blob) error {
	content, _, err := c.open(b)
	if err != nil {
		return err
	}
	defer content.Close()
	_, err = io.Copy(w, content)
	return err
}
