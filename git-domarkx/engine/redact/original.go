package redact

import (
	"context"
	"io"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/original"
)

// An original grows with each import of its document, so only the part that the one before lacks is read and
// redacted.

func readOriginal(o *original.Document) ([]byte, error) {
	r, err := o.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// original notes the secrets in an original.
func (c *collector) original(ctx context.Context, tree string) error {
	o, err := c.from.Origin(ctx, tree)
	if err != nil {
		return err
	}
	data, ok, err := o.Continues(ctx, c.last)
	if err == nil && !ok {
		data, err = readOriginal(o)
	}
	if err != nil {
		return err
	}
	c.last = o
	c.note(data, true)
	return nil
}

// A source is the redacted form of an original.
type source struct {
	tree    string // if it differs
	changed bool
}

// redactOriginals redacts the originals of headers, and reports whether any of them has a secret.
func (w *rewriter) redactOriginals(ctx context.Context, headers []domarkx.HeaderEntry) (changed bool, err error) {
	for _, h := range headers {
		if h.Origin == "" {
			continue
		}
		s, ok := w.sources[h.Origin]
		if !ok {
			if s, err = w.original(ctx, h.Origin); err != nil {
				return false, err
			}
			w.sources[h.Origin] = s
		}
		changed = changed || s.changed
	}
	return changed, nil
}

// original stores the redacted form of an original, if it has a secret.
func (w *rewriter) original(ctx context.Context, tree string) (source, error) {
	o, err := w.tx.Origin(ctx, tree)
	if err != nil {
		return source{}, err
	}
	data, ok, err := o.Continues(ctx, w.last)
	if err != nil {
		return source{}, err
	}
	if !ok {
		w.grower = nil
	}
	w.last = o
	text, changed := w.table.redact(data, true)
	if w.grower == nil && (changed || !ok) { // those before were clean, or there are none
		if data, err = readOriginal(o); err != nil {
			return source{}, err
		}
		text, changed = w.table.redact(data, true)
	}
	if !changed && w.grower == nil {
		return source{}, nil
	}
	if w.grower == nil {
		if w.grower, err = w.tx.NewOriginGrower(o.Format); err != nil {
			return source{}, err
		}
	}
	if err := w.grower.Append(ctx, text); err != nil {
		return source{}, err
	}
	now, err := w.grower.Tree(ctx)
	return source{now, true}, err
}

// originals sets the originals of a state to the redacted ones. One that belongs to another snapshot than this is taken over from
// that, or dropped if no snapshot before has it.
func (w *rewriter) originals(ctx context.Context, id string, state *domarkx.State) error {
	for i := range state.Headers {
		h := &state.Headers[i]
		if h.Origin == "" {
			continue
		}
		if now, ok := w.origins[h.Origin]; ok {
			h.Origin = now
			continue
		}
		o, err := w.tx.Origin(ctx, h.Origin)
		if err != nil {
			return err
		}
		here, err := w.tx.Conversation(ctx, id)
		if err != nil {
			return err
		}
		switch s := w.sources[h.Origin]; {
		case o.Note != here:
			h.Origin = ""
		case s.changed:
			h.Origin = s.tree
		default:
			if h.Origin, err = w.tx.RenoteOrigin(h.Origin); err != nil {
				return err
			}
		}
	}
	return nil
}
