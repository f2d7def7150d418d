package redact

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A written is a redacted message as stored.
type written struct {
	json, source domarkx.Blob
	layout       domarkx.Layout
}

// message returns the redacted form of an entry. Its link becomes that to the redacted workspace
// version.
func (w *rewriter) message(ctx context.Context, e domarkx.Entry, include func(string) ([]byte, error)) (domarkx.Entry, error) {
	if now, ok := w.done[e.Link]; ok {
		e.Link = now
	}
	if w.table.IsEmpty() {
		return e, nil
	}
	made, err := once(w.pieces, e.JSON.ID+" "+e.Source.ID, func() (*written, error) {
		text, source, changed, err := w.texts(ctx, e.JSON, e.Source, e.Layout.Verbatim)
		if err != nil || !changed {
			return nil, err
		}
		msg, err := parseMessage(text)
		if err != nil {
			return nil, err
		}
		return w.write(ctx, msg, e.Layout, source, e.Layout.Verbatim && e.Layout.Within == 0, include)
	})
	if err != nil {
		return e, fmt.Errorf("message %s: %w", e.ID, err)
	}
	if made == nil {
		return e, nil
	}
	e.JSON, e.Source = made.json, made.source
	was := e.Layout
	if was.Within > 0 {
		return e, nil // it shares the bytes of another message
	}
	e.Layout = made.layout
	if e.Layout.Tight = was.Tight; e.Layout.Verbatim {
		e.Layout.Includes, e.Layout.Span = was.Includes, was.Span
	}
	return e, nil
}

// write stores a message: with the author's bytes if they are kept and still read as it, and otherwise in the canonical rendering.
func (w *rewriter) write(ctx context.Context, msg domarkx.Message, layout domarkx.Layout, source []byte, keep bool, include func(string) ([]byte, error)) (*written, error) {
	made := &written{layout: markdown.WriteMessage(msg).Layout}
	if keep {
		if read, ok := readsAs(source, layout, msg, include); ok {
			msg, made.layout = read, relaid(layout, source)
			var err error
			if made.source, err = w.store(ctx, source); err != nil {
				return nil, err
			}
		}
	}
	var err error
	made.json, err = w.store(ctx, view.PrettyJSON(msg.Value()))
	return made, err
}

// texts returns the JSON of a message or header and, if it is verbatim, its author's bytes, both redacted, and whether either changed.
func (w *rewriter) texts(ctx context.Context, json, source domarkx.Blob, verbatim bool) (text, own []byte, changed bool, err error) {
	if text, err = view.Read(ctx, w.tx, json); err != nil {
		return nil, nil, false, err
	}
	text, changed = w.table.Redact(text, true)
	if verbatim {
		var also bool
		own, err = view.Read(ctx, w.tx, source)
		own, also = w.table.Redact(own, false)
		changed = changed || also
	}
	return text, own, changed, err
}

func parseMessage(data []byte) (domarkx.Message, error) {
	value, err := jsonvalue.ParseValue(data)
	if err != nil {
		return domarkx.Message{}, fmt.Errorf("redacted message: %w", err)
	}
	return domarkx.ParseMessage(value, "")
}

// relaid returns the layout of a piece whose author's bytes were redacted.
func relaid(l domarkx.Layout, source []byte) domarkx.Layout {
	l.Digest, l.Size = sha256.Sum256(source), int64(len(source))
	return l
}

// readsAs reports whether the redacted bytes of an author, parsed as Markdown, still give the
// message msg with the same ending, and returns that message. Bytes that contain included messages
// must still contain the same number of them.
func readsAs(source []byte, layout domarkx.Layout, msg domarkx.Message, include func(string) ([]byte, error)) (domarkx.Message, bool) {
	doc, err := markdown.Decode(format.Source{Data: source, Include: include})
	if err != nil || len(doc.Conversation) != layout.Span+1 || len(doc.Damage) > 0 {
		return msg, false
	}
	read := doc.Conversation[0]
	if read.Role != msg.Role || read.Layout.Tail != layout.Tail || read.Layout.Fence != layout.Fence {
		return msg, false
	}
	return read.Message, read.Message.Equal(msg)
}

// header returns the redacted form of a header. It does not redact the header's original document.
func (w *rewriter) header(ctx context.Context, h domarkx.HeaderEntry) (domarkx.HeaderEntry, error) {
	text, source, changed, err := w.texts(ctx, h.JSON, h.Source, h.Layout.Verbatim)
	if err != nil {
		return h, err
	}
	if h.Includes, err = w.includes(ctx, h.Includes); err != nil {
		return h, err
	}
	if now, ok := w.included[h.Layout.Includes]; ok {
		h.Layout.Includes = now
	}
	if !changed {
		return h, nil
	}
	value, err := jsonvalue.ParseValue(text)
	if err != nil {
		return h, fmt.Errorf("redacted header: %w", err)
	}
	shown, err := domarkx.ParseHeader(value, true)
	if err != nil {
		return h, fmt.Errorf("redacted header: %w", err)
	}
	if h.JSON, err = w.store(ctx, view.PrettyJSON(value)); err != nil {
		return h, err
	}
	files, err := w.tx.Includes(ctx, h.Includes)
	if err != nil {
		return h, err
	}
	if h.Layout.Verbatim && keepsShape(source, h.Layout, view.StoredInclude(files)) {
		h.Layout = relaid(h.Layout, source)
		h.Source, err = w.store(ctx, source)
		return h, err
	}
	tight := h.Layout.Tight
	h.Source, h.Layout = domarkx.Blob{}, markdown.WriteHeader(shown).Layout
	h.Layout.Tight = tight
	return h, nil
}

// keepsShape reports whether the redacted bytes of a preamble, parsed as Markdown, are still a
// preamble.
func keepsShape(source []byte, layout domarkx.Layout, include func(string) ([]byte, error)) bool {
	doc, err := markdown.Decode(format.Source{Data: source, Include: include})
	return err == nil && len(doc.Conversation) == layout.Span && len(doc.Damage) == 0 &&
		doc.Preamble.Layout.Tail == layout.Tail && doc.Preamble.Layout.Fence == layout.Fence
}

// includes redacts the files in a tree of included files and returns the new tree.
func (w *rewriter) includes(ctx context.Context, tree string) (string, error) {
	if tree == "" {
		return "", nil
	}
	return once(w.trees, tree, func() (string, error) {
		files, err := w.tx.Includes(ctx, tree)
		before, any := markdown.IncludesID(files), false
		for i, f := range files {
			data, changed := w.table.Redact(f.Data, false)
			files[i].Data, any = data, any || changed
		}
		if err != nil || !any {
			return tree, err
		}
		w.included[before] = markdown.IncludesID(files)
		return w.tx.StoreIncludes(ctx, files)
	})
}
