package redact

import (
	"context"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/original"
)

// Each import extends the original, so only the part that the previous original lacks is read and
// redacted.

func readOriginal(_ context.Context, o *original.Document) ([]byte, error) {
	r, err := o.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(r)
}

// original adds the secrets in an original document to the table.
func (c *collector) original(ctx context.Context, tree string) error {
	o, err := c.from.Origin(ctx, tree)
	if err != nil {
		return err
	}
	data, ok, err := o.Continues(ctx, c.last)
	if err == nil && !ok {
		data, err = readOriginal(ctx, o)
	}
	if err != nil {
		return err
	}
	c.last = o
	c.note(data, true)
	return nil
}

// originalForms are the redacted original documents.
type originalForms struct {
	origins map[string]string  // tree → redacted tree with the snapshot that it belongs to
	sources map[string]string  // tree → its redacted form; "" if nothing changed
	last    *original.Document // the one that was redacted last
	grower  *original.Grower
}

// redactOriginals redacts the original documents of headers, and reports whether any of them
// contains a secret.
func (w *rewriter) redactOriginals(ctx context.Context, headers []domarkx.HeaderEntry) (changed bool, err error) {
	for _, h := range headers {
		if h.Origin == "" || w.table.IsEmpty() {
			continue
		}
		s, err := once(w.sources, h.Origin, func() (string, error) { return w.original(ctx, h.Origin) })
		if err != nil {
			return false, err
		}
		changed = changed || s != ""
	}
	return changed, nil
}

// original stores the redacted form of an original document. It returns "" if the document contains no secret.
func (w *rewriter) original(ctx context.Context, tree string) (string, error) {
	o, err := w.tx.Origin(ctx, tree)
	if err != nil {
		return "", err
	}
	data, ok, err := o.Continues(ctx, w.last)
	if err != nil {
		return "", err
	}
	if !ok {
		w.grower = nil
	}
	w.last = o
	text, changed := w.table.Redact(data, true)
	if w.grower == nil && (changed || !ok) { // nothing was redacted so far: read the whole original
		if data, err = readOriginal(ctx, o); err != nil {
			return "", err
		}
		text, changed = w.table.Redact(data, true)
	}
	if !changed && w.grower == nil {
		return "", nil
	}
	if w.grower == nil {
		if w.grower, err = w.tx.NewOriginGrower(o.Format); err != nil {
			return "", err
		}
	}
	if err := w.grower.Append(ctx, text); err != nil {
		return "", err
	}
	return w.grower.Tree(ctx)
}

// originals replaces the original documents in a state by their redacted forms. The original of an
// earlier snapshot gets the form that it got there. It is dropped if no earlier snapshot has it.
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
		switch now := w.sources[h.Origin]; {
		case o.Note != here:
			h.Origin = ""
		case now != "":
			h.Origin = now
		default:
			if h.Origin, err = w.tx.RenoteOrigin(h.Origin); err != nil {
				return err
			}
		}
	}
	return nil
}
