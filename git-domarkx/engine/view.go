package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/gitstore"
)

// A view is a state as it is shown: with conflict markers, and with each piece in the form that
// it has in the document. Piece 0 is the preamble, and piece k+1 is message k.
type view struct {
	blobs   blobs
	headers []domarkx.HeaderEntry
	live    domarkx.Entries
	dead    []domarkx.Tombstone
	placed  []domarkx.Placed
	made    map[int]made // the pieces whose shown form is not stored
}

// made is a piece whose shown form was rendered.
type made struct {
	layout domarkx.Layout
	bytes  []byte
}

func newView(ctx context.Context, blobs blobs, state *domarkx.State) (*view, error) {
	v := &view{blobs: blobs, headers: state.Headers, live: domarkx.EntryList(state.Thread.Live), dead: state.Thread.Dead}
	return v, v.arrange(ctx)
}

// state returns the state that the view shows.
func (v *view) state() *domarkx.State {
	s := &domarkx.State{Headers: v.headers, Thread: domarkx.Thread{Dead: v.dead}}
	for k := range v.live.Len() {
		s.Thread.Live = append(s.Thread.Live, v.live.At(k))
	}
	return s
}

// loadView loads a snapshot, which may have many messages, and returns its view.
func loadView(ctx context.Context, store *gitstore.Store, snapshot string) (*view, error) {
	state, err := store.LoadPacked(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	return newPackedView(ctx, store, state)
}

func newPackedView(ctx context.Context, store *gitstore.Store, state *domarkx.PackedState) (*view, error) {
	v := &view{blobs: store, headers: state.Headers, live: &state.Live, dead: state.Dead}
	return v, v.arrange(ctx)
}

// arrange determines the form and the separator of each piece.
func (v *view) arrange(ctx context.Context) error {
	v.made = map[int]made{}
	if len(v.headers) > 1 {
		if err := v.render(ctx, 0); err != nil {
			return err
		}
	}
	var before domarkx.ID
	for k := range v.live.Len() {
		id := v.live.At(k).ID
		if k > 0 && id == before {
			for i := k; i <= k+1; i++ {
				if _, ok := v.made[i]; ok {
					continue
				}
				if err := v.render(ctx, i); err != nil {
					return err
				}
			}
		}
		before = id
	}
	includes, err := v.includes(ctx)
	if err != nil {
		return err
	}
	v.placed = domarkx.Arrange(markdown.IncludesID(includes), v.live.Len()+1, v.layout)
	for i, p := range v.placed {
		if p.Form != domarkx.Canonical {
			continue
		}
		if l := v.layout(i); l.Verbatim || l.Within > 0 {
			if err := v.render(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// layout returns the layout of a piece as shown. The caller must not modify it.
func (v *view) layout(i int) *domarkx.Layout {
	if made, ok := v.made[i]; ok {
		return &made.layout
	}
	if i == 0 {
		return &v.headers[0].Layout
	}
	if list, ok := v.live.(domarkx.EntryList); ok { // the common case; avoids a copy
		return &list[i-1].Layout
	}
	e := v.live.At(i - 1)
	return &e.Layout
}

// render renders a piece in canonical form, because its stored layout differs from that.
func (v *view) render(ctx context.Context, i int) error {
	if i == 0 {
		h, err := v.header(ctx)
		if err != nil {
			return err
		}
		v.made[0] = made{markdown.WriteHeader(h).Layout, markdown.RenderHeader(h)}
		return nil
	}
	msg, err := v.message(ctx, i-1)
	if err != nil {
		return err
	}
	v.made[i] = made{markdown.WriteMessage(msg).Layout, markdown.RenderMessage(msg)}
	return nil
}

// size returns the size of the document in bytes.
func (v *view) size() int64 {
	var n int64
	for i, p := range v.placed {
		n += int64(len(p.Separator))
		if p.Form != domarkx.Nothing {
			n += v.layout(i).Size
		}
	}
	return n
}

// header returns the header as shown. Conflicting headers are in metadata.conflict.
func (v *view) header(ctx context.Context) (domarkx.Header, error) {
	return loadHeader(ctx, v.blobs, v.headers)
}

// header returns the header that is in effect for a snapshot. If a merge left several, this is
// the first one.
func (m *SessionManager) header(ctx context.Context, snapshot string) (domarkx.Header, error) {
	headers, err := m.store.Header(ctx, snapshot)
	if err != nil {
		return domarkx.Header{}, err
	}
	return loadHeader(ctx, m.store, headers[:1])
}

func loadHeader(ctx context.Context, blobs blobs, headers []domarkx.HeaderEntry) (domarkx.Header, error) {
	var shown domarkx.Header
	var others []domarkx.Value
	for i, entry := range headers {
		data, err := read(ctx, blobs, entry.JSON)
		if err != nil {
			return shown, err
		}
		value, err := domarkx.ParseValue(data)
		if err != nil {
			return shown, fmt.Errorf("snapshot.json %w: %w", domarkx.ErrCorrupt, err)
		}
		if i > 0 {
			others = append(others, domarkx.ObjectValue(domarkx.Member{Name: "side", Value: domarkx.StringValue(entry.Rev.String())}, domarkx.Member{Name: "header", Value: value}))
			continue
		}
		if shown, err = domarkx.ParseHeader(value, true); err != nil {
			return shown, fmt.Errorf("snapshot.json %w: %w", domarkx.ErrCorrupt, domarkx.Locate(err, data))
		}
	}
	if len(others) > 0 {
		shown.MetadataExtra = append(shown.MetadataExtra, domarkx.Member{Name: "conflict", Value: domarkx.ArrayValue(others...)})
	}
	return shown, nil
}

// message returns message k as shown. If it is one text of a conflict, message_metadata.conflict
// names its side.
func (v *view) message(ctx context.Context, k int) (domarkx.Message, error) {
	e := v.live.At(k)
	msg, err := loadMessage(ctx, v.blobs, e)
	if err == nil && domarkx.InConflict(v.live, k) {
		markConflict(&msg, e.Rev)
	}
	return msg, err
}

func markConflict(msg *domarkx.Message, side domarkx.Rev) {
	metadata := domarkx.ObjectValue()
	if msg.Metadata != nil {
		metadata = *msg.Metadata
	}
	metadata = metadata.With("conflict", domarkx.StringValue(side.String()))
	msg.Metadata = &metadata
}

func loadMessage(ctx context.Context, blobs blobs, e domarkx.Entry) (domarkx.Message, error) {
	data, err := read(ctx, blobs, e.JSON)
	if err != nil {
		return domarkx.Message{}, err
	}
	return decodeMessage(data, e.ID)
}

func decodeMessage(data []byte, id domarkx.ID) (domarkx.Message, error) {
	value, err := domarkx.ParseValue(data)
	if err == nil {
		var msg domarkx.Message
		if msg, err = domarkx.ParseMessage(value, ""); err == nil {
			return msg, nil
		}
	}
	return domarkx.Message{}, fmt.Errorf("message %s %w: %w", id, domarkx.ErrCorrupt, domarkx.Locate(err, data))
}

// includes returns the files that the document includes.
func (v *view) includes(ctx context.Context) ([]domarkx.Include, error) {
	tree := v.headers[0].Includes
	if tree == "" {
		return nil, nil
	}
	files, err := v.blobs.Includes(ctx, tree)
	slices.SortFunc(files, func(a, b domarkx.Include) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

// keys returns a key for each piece. Pieces with equal keys have equal bytes and meaning in the
// document. A piece that was written without an end gets one when another piece follows.
func (v *view) keys(ctx context.Context) ([]domarkx.Key, error) {
	keys := make([]domarkx.Key, len(v.placed))
	span := "" // identifies the last written piece, for the pieces inside it
	for i := range keys {
		piece := *v.layout(i)
		if v.placed[i].Form == domarkx.Nothing {
			piece.Includes = span
		}
		ended := piece.Tail == domarkx.TailOpen || piece.Fence != ""
		if v.placed[i].Form == domarkx.AsWritten && ended && i+1+piece.Span < len(keys) {
			read, err := v.reread(ctx, i)
			if err != nil {
				return nil, err
			}
			piece = read
		}
		if v.placed[i].Form == domarkx.AsWritten {
			span = piece.SpanID()
		}
		keys[i] = layoutKey(piece)
	}
	return keys, nil
}

// reread returns the layout of a piece with the end that the next piece gives it.
func (v *view) reread(ctx context.Context, i int) (domarkx.Layout, error) {
	data, err := v.bytes(ctx, i)
	if err != nil {
		return domarkx.Layout{}, err
	}
	files, err := v.includes(ctx)
	if err != nil {
		return domarkx.Layout{}, err
	}
	layout := *v.layout(i)
	data = append(slices.Clip(data), domarkx.Separator(layout, domarkx.Layout{Tight: true})...)
	doc, err := markdown.Decode(format.Source{Data: data, Include: storedInclude(files)})
	messages := layout.Span
	if i > 0 {
		messages++
	}
	if err != nil || len(doc.Conversation) != messages {
		return layout, nil // it reads differently on its own, so it counts as changed
	}
	read := doc.Preamble.Layout
	if i > 0 {
		read = doc.Conversation[0].Layout
	}
	read.Tight, read.Includes = layout.Tight, layout.Includes
	return read, nil
}

// storedInclude returns a function that reads included files from those stored with a snapshot.
func storedInclude(files []domarkx.Include) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		for _, f := range files {
			if f.Path == path {
				return f.Data, nil
			}
		}
		return nil, fmt.Errorf("%w in the snapshot; import the document again to include it", domarkx.ErrNotFound)
	}
}

func layoutKey(l domarkx.Layout) domarkx.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %t %d %d %s", l.Digest, l.Tight, l.Span, l.Within, l.Includes))
	return domarkx.Key(sum)
}

// read returns the data of a blob, from memory or from the store.
func read(ctx context.Context, blobs blobs, b domarkx.Blob) ([]byte, error) {
	if b.Data != nil {
		return b.Data, nil
	}
	return blobs.Read(ctx, b)
}
