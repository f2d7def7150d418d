package redact

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// Snapshots share directories of messages, headers and attachments. Each is redacted once, so that
// the cost of a snapshot depends only on its new parts.

// conversationForms are the redacted messages, headers and included files.
type conversationForms struct {
	pieces   map[string]*written // message by its blobs; nil if it has no secrets
	leaves   snapshot.Rewritings
	spans    map[string]string // identifier of a piece that contains others → that of the redacted piece
	tops     map[headerKey]domarkx.HeaderEntry
	previews map[string]string // blob of the first message → preview
	trees    map[string]string // tree of included files → redacted tree
	included map[string]string // identifier of included files → that of the redacted ones
}

// once returns the form of what a key stands for, which redact makes the first time.
func once[K comparable, V any](forms map[K]V, key K, redact func() (V, error)) (V, error) {
	form, known := forms[key]
	if known {
		return form, nil
	}
	form, err := redact()
	if err == nil {
		forms[key] = form
	}
	return form, err
}

// A headerKey identifies the content of a header.
type headerKey struct {
	json, source, includes string
	layout                 domarkx.Layout
}

func headerKeyOf(h domarkx.HeaderEntry) headerKey {
	return headerKey{h.JSON.ID, h.Source.ID, h.Includes, h.Layout}
}

// leafEdit returns a function that redacts the messages of a leaf. includes is the tree of the
// files that the document includes.
func (w *rewriter) leafEdit(ctx context.Context, includes string) snapshot.LeafEdit {
	include := func(path string) ([]byte, error) {
		files, err := w.tx.Includes(ctx, includes)
		if err != nil {
			return nil, err
		}
		for i := range files {
			files[i].Data, _ = w.table.Redact(files[i].Data, false)
		}
		return view.StoredInclude(files)(path)
	}
	return func(messages []domarkx.Entry) (changed bool, grown int64, odd bool, err error) {
		for i, old := range messages {
			now, err := w.entry(ctx, old, include)
			if err != nil {
				return false, 0, false, err
			}
			messages[i] = now
			changed = changed || now.JSON.ID != old.JSON.ID || now.Source.ID != old.Source.ID || now.Link != old.Link || now.Layout != old.Layout
			grown += now.Layout.Size - old.Layout.Size
			odd = odd || !w.table.IsEmpty() && (!sameShape(now.Layout, old.Layout) || usesIncludes(old.Layout) || i > 0 && old.ID == messages[i-1].ID)
		}
		return changed, grown, odd, nil
	}
}

func (w *rewriter) entry(ctx context.Context, e domarkx.Entry, include func(string) ([]byte, error)) (domarkx.Entry, error) {
	if err := w.joined.entry(ctx, w, &e); err != nil {
		return e, err
	}
	now, err := w.message(ctx, e, include)
	if err != nil {
		return e, err
	}
	if to, ok := w.included[now.Layout.Includes]; ok && now.Layout.Within == 0 {
		now.Layout.Includes = to
	}
	if e.Layout.Span > 0 {
		w.spans[e.Layout.SpanID()] = now.Layout.SpanID()
	}
	if to, ok := w.spans[now.Layout.Includes]; ok && now.Layout.Within > 0 {
		now.Layout.Includes = to
	}
	return now, nil
}

func usesIncludes(l domarkx.Layout) bool { return l.Span > 0 || l.Within > 0 || l.Includes != "" }

// sameShape reports whether two layouts differ only in their bytes.
func sameShape(a, b domarkx.Layout) bool {
	a.Digest, a.Size = b.Digest, b.Size
	return a == b
}

// headers returns the redacted headers of a snapshot. They still refer to the original documents of
// the old headers.
func (w *rewriter) headers(ctx context.Context, old []domarkx.HeaderEntry) ([]domarkx.HeaderEntry, error) {
	if w.table.IsEmpty() {
		return slices.Clone(old), nil
	}
	next := make([]domarkx.HeaderEntry, len(old))
	for i, h := range old {
		now, err := once(w.tops, headerKeyOf(h), func() (domarkx.HeaderEntry, error) { return w.header(ctx, h) })
		if err != nil {
			return nil, err
		}
		now.Rev, now.Past, now.Origin = h.Rev, h.Past, h.Origin
		next[i] = now
	}
	return next, nil
}

// size computes the size in bytes of the redacted document of a snapshot.
func (w *rewriter) size(ctx context.Context, id string, headers []domarkx.HeaderEntry) (int64, error) {
	state, err := w.tx.Load(ctx, id)
	if err != nil {
		return 0, err
	}
	state.Headers = headers
	for i, e := range state.Thread.Live {
		if state.Thread.Live[i], err = w.entry(ctx, e, nil); err != nil { // the leaves are redacted already
			return 0, err
		}
	}
	v, err := view.New(ctx, w.tx, state)
	if err != nil {
		return 0, err
	}
	return v.Size(), nil
}

// preview returns the preview of a session whose first message is first.
func (w *rewriter) preview(ctx context.Context, first domarkx.Entry) (string, error) {
	return once(w.previews, first.JSON.ID, func() (string, error) {
		msg, err := view.LoadMessage(ctx, w.tx, first)
		return view.Preview(msg), err
	})
}
