package redact

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A contents reads what snapshots and versions hold, from the store or within an update.
type contents interface {
	view.Blobs
	AttachmentsOf(ctx context.Context, snapshot string) ([]domarkx.Attachment, error)
}

// A collector adds the secrets of a history to a table, in the order of their first occurrence: by snapshots, and
// in each by header, messages, attachments and originals.
type collector struct {
	from  contents
	table *table
	seen  map[string]bool // blobs and trees
	marks bool            // take over the numbers of placeholders instead
}

// note adds the secrets or the placeholders in a text to the table.
func (c *collector) note(text []byte, isJSON bool) {
	if c.marks {
		c.table.marks(text)
	} else {
		c.table.note(text, isJSON)
	}
}

func (c *collector) first(id string) bool {
	if id == "" || c.seen[id] {
		return false
	}
	c.seen[id] = true
	return true
}

// blob notes the secrets in a blob that was not seen before.
func (c *collector) blob(ctx context.Context, b domarkx.Blob, isJSON bool) error {
	if !c.first(b.ID) {
		return nil
	}
	data, err := c.from.Read(ctx, b)
	if err == nil && isText(data) {
		c.note(data, isJSON)
	}
	return err
}

// snapshot notes the secrets in a snapshot.
func (c *collector) snapshot(ctx context.Context, head snapshot.CommitHead, state *domarkx.State) error {
	if err := c.state(ctx, state); err != nil {
		return fmt.Errorf("snapshot %.12s: %w", head.Info.ID, err)
	}
	all, err := c.from.AttachmentsOf(ctx, head.Info.ID)
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
		} else if isText(data) {
			c.note(data, true)
		}
	}
	for _, h := range state.Headers {
		if !c.first(h.Origin) {
			continue
		}
		o, err := c.from.Origin(ctx, h.Origin)
		if err != nil {
			return err
		}
		data, err := readOriginal(o)
		if err != nil {
			return err
		}
		c.note(data, true)
	}
	c.note([]byte(head.Info.Subject), false)
	return nil
}

// state notes the secrets in headers and messages.
func (c *collector) state(ctx context.Context, state *domarkx.State) error {
	for _, h := range state.Headers {
		if err := c.blob(ctx, h.JSON, true); err != nil {
			return err
		}
		if err := c.blob(ctx, h.Source, false); err != nil {
			return err
		}
		if !c.first(h.Includes) {
			continue
		}
		files, err := c.from.Includes(ctx, h.Includes)
		if err != nil {
			return err
		}
		for _, f := range files {
			c.note(f.Data, false)
		}
	}
	for _, e := range state.Thread.Live {
		if err := c.blob(ctx, e.JSON, true); err != nil {
			return fmt.Errorf("message %s: %w", e.ID, err)
		}
		if err := c.blob(ctx, e.Source, false); err != nil {
			return fmt.Errorf("message %s: %w", e.ID, err)
		}
	}
	return nil
}
