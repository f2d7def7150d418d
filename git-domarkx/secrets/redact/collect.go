package redact

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/original"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A collector adds the secrets of a history to a table in the order of their first occurrence:
// snapshot by snapshot, and in each the headers, messages, attachments and originals.
type collector struct {
	from  snapshot.Reader
	table *placeholder.Table
	seen  map[string]bool    // ids of the blobs and trees that were read
	last  *original.Document // the original that was read last
	marks bool               // instead of secrets, note the numbers of placeholders
}

func (m *Redactor) collector(t *placeholder.Table, marks bool) *collector {
	return &collector{from: m.store.Reader, table: t, seen: map[string]bool{}, marks: marks}
}

// note adds the secrets in a text to the table, or the numbers of its placeholders if c.marks is
// set.
func (c *collector) note(text []byte, isJSON bool) {
	if c.marks {
		c.table.ReserveIn(text)
	} else {
		c.table.Note(text, isJSON)
	}
}

func (c *collector) first(id string) bool {
	if id == "" || c.seen[id] {
		return false
	}
	c.seen[id] = true
	return true
}

// blob adds the secrets in a blob to the table, unless the blob was read before.
func (c *collector) blob(ctx context.Context, b domarkx.Blob, isJSON bool) error {
	if !c.first(b.ID) {
		return nil
	}
	data, err := c.from.Read(ctx, b)
	if err == nil && secrets.IsText(data) {
		c.note(data, isJSON)
	}
	return err
}

// snapshot adds the secrets in a snapshot to the table. It skips parts that were read with an
// earlier snapshot.
func (c *collector) snapshot(ctx context.Context, head snapshot.CommitHead) error {
	headers, err := c.messages(ctx, head.Info.ID)
	if err == nil {
		err = c.attachments(ctx, head.Info.ID)
	}
	if err != nil {
		return fmt.Errorf("snapshot %.12s: %w", head.Info.ID, err)
	}
	for _, h := range headers {
		if !c.first(h.Origin) {
			continue
		}
		if err := c.original(ctx, h.Origin); err != nil {
			return err
		}
	}
	c.note([]byte(head.Info.Subject), false)
	return nil
}

func (c *collector) attachments(ctx context.Context, id string) error {
	directory, err := c.from.AttachmentsID(ctx, id)
	if err != nil || !c.first(directory) {
		return err
	}
	all, err := c.from.AttachmentsOf(ctx, id)
	if err != nil {
		return err
	}
	for _, a := range all {
		if !c.first(a.SHA256) {
			continue
		}
		data, err := c.from.Read(ctx, a.Blob)
		if err != nil {
			return fmt.Errorf("attachment %s: %w", a.SHA256, err)
		}
		if r, ok := codec.DecodeFileRecord(data); ok {
			c.note([]byte(r.Path), false)
		} else if secrets.IsText(data) {
			c.note(data, true)
		}
	}
	return nil
}

// messages adds the secrets in the headers and messages of a snapshot to the table, and returns the
// headers.
func (c *collector) messages(ctx context.Context, id string) ([]domarkx.HeaderEntry, error) {
	headers, err := c.from.Header(ctx, id)
	if err != nil {
		return nil, err
	}
	for _, h := range headers {
		if err := c.header(ctx, h); err != nil {
			return nil, err
		}
	}
	for leaf, err := range c.from.Leaves(ctx, id, func(directory string) bool { return !c.first(directory) }) {
		var entries []domarkx.Entry
		if err == nil {
			entries, err = c.from.LeafEntries(ctx, leaf)
		}
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if err := errors.Join(c.blob(ctx, e.JSON, true), c.blob(ctx, e.Source, false)); err != nil {
				return nil, fmt.Errorf("message %s: %w", e.ID, err)
			}
		}
	}
	return headers, nil
}

func (c *collector) header(ctx context.Context, h domarkx.HeaderEntry) error {
	if err := errors.Join(c.blob(ctx, h.JSON, true), c.blob(ctx, h.Source, false)); err != nil {
		return err
	}
	if !c.first(h.Includes) {
		return nil
	}
	files, err := c.from.Includes(ctx, h.Includes)
	if err != nil {
		return err
	}
	for _, f := range files {
		c.note(f.Data, false)
	}
	return nil
}
