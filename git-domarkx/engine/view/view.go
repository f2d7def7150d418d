// Package view reads snapshots: it loads headers and messages, and renders them as the Markdown document that a user sees.
package view

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/original"
)

// A View is a state as it is shown: with conflict markers, and with each piece in the form that
// it has in the document. Piece 0 is the preamble, and piece k+1 is message k.
type View struct {
	Blobs   Blobs
	Headers []domarkx.HeaderEntry
	Live    domarkx.Entries
	Dead    []domarkx.Tombstone
	Placed  []domarkx.Placed
	made    map[int]made // the pieces whose shown form is not stored
}

// made is a piece whose shown form was rendered.
type made struct {
	layout domarkx.Layout
	bytes  []byte
}

// New returns the view of a state, which need not be stored. blobs reads its contents.
func New(ctx context.Context, blobs Blobs, state *domarkx.State) (*View, error) {
	v := &View{Blobs: blobs, Headers: state.Headers, Live: domarkx.EntryList(state.Thread.Live), Dead: state.Thread.Dead}
	return v, v.arrange(ctx)
}

// State returns the state that the view shows.
func (v *View) State() *domarkx.State {
	s := &domarkx.State{Headers: v.Headers, Thread: domarkx.Thread{Dead: v.Dead}}
	for k := range v.Live.Len() {
		s.Thread.Live = append(s.Thread.Live, v.Live.At(k))
	}
	return s
}

// Load loads a snapshot, which may have many messages, and returns its view.
func Load(ctx context.Context, store *gitstore.Store, snapshot string) (*View, error) {
	state, err := store.LoadPacked(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	return NewPacked(ctx, store, state)
}

// NewPacked returns the view of a stored state.
func NewPacked(ctx context.Context, store *gitstore.Store, state *domarkx.PackedState) (*View, error) {
	v := &View{Blobs: store, Headers: state.Headers, Live: &state.Live, Dead: state.Dead}
	return v, v.arrange(ctx)
}

// arrange determines the form and the separator of each piece.
func (v *View) arrange(ctx context.Context) error {
	v.made = map[int]made{}
	if len(v.Headers) > 1 {
		if err := v.render(ctx, 0); err != nil {
			return err
		}
	}
	var before domarkx.ID
	for k := range v.Live.Len() {
		id := v.Live.At(k).ID
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
	includes, err := v.Includes(ctx)
	if err != nil {
		return err
	}
	v.Placed = domarkx.Arrange(markdown.IncludesID(includes), v.Live.Len()+1, v.Layout)
	for i, p := range v.Placed {
		if p.Form != domarkx.Canonical {
			continue
		}
		if l := v.Layout(i); l.Verbatim || l.Within > 0 {
			if err := v.render(ctx, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// Layout returns the layout of a piece as shown. The caller must not modify it.
func (v *View) Layout(i int) *domarkx.Layout {
	if made, ok := v.made[i]; ok {
		return &made.layout
	}
	if i == 0 {
		return &v.Headers[0].Layout
	}
	if list, ok := v.Live.(domarkx.EntryList); ok { // the common case; avoids a copy
		return &list[i-1].Layout
	}
	e := v.Live.At(i - 1)
	return &e.Layout
}

// render renders a piece in canonical form, because its stored layout differs from that.
func (v *View) render(ctx context.Context, i int) error {
	if i == 0 {
		h, err := v.Header(ctx)
		if err != nil {
			return err
		}
		v.made[0] = made{markdown.WriteHeader(h).Layout, markdown.RenderHeader(h)}
		return nil
	}
	msg, err := v.Message(ctx, i-1)
	if err != nil {
		return err
	}
	v.made[i] = made{markdown.WriteMessage(msg).Layout, markdown.RenderMessage(msg)}
	return nil
}

// Size returns the size of the document in bytes.
func (v *View) Size() int64 {
	var n int64
	for i, p := range v.Placed {
		n += int64(len(p.Separator))
		if p.Form != domarkx.Nothing {
			n += v.Layout(i).Size
		}
	}
	return n
}

// Header returns the header as shown. Conflicting headers are in metadata.conflict.
func (v *View) Header(ctx context.Context) (domarkx.Header, error) {
	return LoadHeader(ctx, v.Blobs, v.Headers)
}

// Header returns the header that is in effect for a snapshot. If a merge left several, this is the first one.
func Header(ctx context.Context, store *gitstore.Store, snapshot string) (domarkx.Header, error) {
	headers, err := store.Header(ctx, snapshot)
	if err != nil {
		return domarkx.Header{}, err
	}
	return LoadHeader(ctx, store, headers[:1])
}

// LoadHeader reads headers. If there are several, because they are in conflict, the first is shown
// and the others are in metadata.conflict.
func LoadHeader(ctx context.Context, blobs Blobs, headers []domarkx.HeaderEntry) (domarkx.Header, error) {
	var shown domarkx.Header
	var others []jsonvalue.Value
	for i, entry := range headers {
		data, err := Read(ctx, blobs, entry.JSON)
		if err != nil {
			return shown, err
		}
		value, err := jsonvalue.ParseValue(data)
		if err != nil {
			return shown, fmt.Errorf("snapshot.json %w: %w", domarkx.ErrCorrupt, err)
		}
		if i > 0 {
			others = append(others, jsonvalue.ObjectOf("side", entry.Rev.String(), "header", value))
			continue
		}
		if shown, err = domarkx.ParseHeader(value, true); err != nil {
			return shown, fmt.Errorf("snapshot.json %w: %w", domarkx.ErrCorrupt, domarkx.Locate(err, data))
		}
	}
	if len(others) > 0 {
		shown.MetadataExtra = append(shown.MetadataExtra, jsonvalue.Member{Name: "conflict", Value: jsonvalue.ArrayValue(others...)})
	}
	return shown, nil
}

// Message returns message k as shown. If it is one text of a conflict, message_metadata.conflict names its side.
func (v *View) Message(ctx context.Context, k int) (domarkx.Message, error) {
	e := v.Live.At(k)
	msg, err := LoadMessage(ctx, v.Blobs, e)
	if err == nil && domarkx.InConflict(v.Live, k) {
		MarkConflict(&msg, e.Rev)
	}
	return msg, err
}

// MarkConflict marks a message as the version of one side of a conflict.
func MarkConflict(msg *domarkx.Message, side domarkx.Rev) {
	SetMetadata(msg, "conflict", jsonvalue.StringValue(side.String()))
}

// SetMetadata sets a member of the metadata of a message.
func SetMetadata(msg *domarkx.Message, name string, value jsonvalue.Value) {
	metadata := jsonvalue.ObjectValue()
	if msg.Metadata != nil {
		metadata = *msg.Metadata
	}
	metadata = metadata.With(name, value)
	msg.Metadata = &metadata
}

// LoadMessage reads the message of an entry. The error matches [domarkx.ErrCorrupt] if the message is damaged.
func LoadMessage(ctx context.Context, blobs Blobs, e domarkx.Entry) (domarkx.Message, error) {
	data, err := Read(ctx, blobs, e.JSON)
	if err != nil {
		return domarkx.Message{}, err
	}
	return DecodeMessage(data, e.ID)
}

// DecodeMessage parses a message as it is stored.
func DecodeMessage(data []byte, id domarkx.ID) (domarkx.Message, error) {
	value, err := jsonvalue.ParseValue(data)
	if err == nil {
		var msg domarkx.Message
		if msg, err = domarkx.ParseMessage(value, ""); err == nil {
			return msg, nil
		}
	}
	return domarkx.Message{}, fmt.Errorf("message %s %w: %w", id, domarkx.ErrCorrupt, domarkx.Locate(err, data))
}

// Includes returns the files that the document includes.
func (v *View) Includes(ctx context.Context) ([]domarkx.Include, error) {
	tree := v.Headers[0].Includes
	if tree == "" {
		return nil, nil
	}
	files, err := v.Blobs.Includes(ctx, tree)
	slices.SortFunc(files, func(a, b domarkx.Include) int { return strings.Compare(a.Path, b.Path) })
	return files, err
}

// Keys returns a key for each piece. Pieces with equal keys have equal bytes and meaning in the document. If a piece lacks its
// end, such as the end of a fence, and another piece follows, its key is that of the piece with the end.
func (v *View) Keys(ctx context.Context) ([]domarkx.Key, error) {
	keys := make([]domarkx.Key, len(v.Placed))
	span := "" // identifies the last written piece, for the pieces inside it
	for i := range keys {
		piece := *v.Layout(i)
		if v.Placed[i].Form == domarkx.Nothing {
			piece.Includes = span
		}
		ended := piece.Tail == domarkx.TailOpen || piece.Fence != ""
		if v.Placed[i].Form == domarkx.AsWritten && ended && i+1+piece.Span < len(keys) {
			read, err := v.reread(ctx, i)
			if err != nil {
				return nil, err
			}
			piece = read
		}
		if v.Placed[i].Form == domarkx.AsWritten {
			span = piece.SpanID()
		}
		keys[i] = LayoutKey(piece)
	}
	return keys, nil
}

// reread returns the layout of a piece together with the end that the next piece gives it.
func (v *View) reread(ctx context.Context, i int) (domarkx.Layout, error) {
	data, err := v.Bytes(ctx, i)
	if err != nil {
		return domarkx.Layout{}, err
	}
	files, err := v.Includes(ctx)
	if err != nil {
		return domarkx.Layout{}, err
	}
	layout := *v.Layout(i)
	data = append(slices.Clip(data), domarkx.Separator(layout, domarkx.Layout{Tight: true})...)
	doc, err := markdown.Decode(format.Source{Data: data, Include: StoredInclude(files)})
	messages := layout.Span
	if i > 0 {
		messages++
	}
	if err != nil || len(doc.Conversation) != messages {
		return layout, nil // the piece reads differently on its own, so it counts as changed
	}
	read := doc.Preamble.Layout
	if i > 0 {
		read = doc.Conversation[0].Layout
	}
	read.Tight, read.Includes = layout.Tight, layout.Includes
	return read, nil
}

// StoredInclude returns a function that reads included files from those stored with a snapshot.
func StoredInclude(files []domarkx.Include) func(path string) ([]byte, error) {
	return func(path string) ([]byte, error) {
		for _, f := range files {
			if f.Path == path {
				return f.Data, nil
			}
		}
		return nil, fmt.Errorf("%w in the snapshot; import the document again to include it", domarkx.ErrNotFound)
	}
}

// LayoutKey returns a key that is equal for equal layouts.
func LayoutKey(l domarkx.Layout) domarkx.Key {
	sum := sha256.Sum256(fmt.Appendf(nil, "%x %t %d %d %s", l.Digest, l.Tight, l.Span, l.Within, l.Includes))
	return domarkx.Key(sum)
}

// Read returns the data of a blob, from memory or from the store.
func Read(ctx context.Context, blobs Blobs, b domarkx.Blob) ([]byte, error) {
	if b.Data != nil {
		return b.Data, nil
	}
	return blobs.Read(ctx, b)
}

// Blobs reads stored contents, from the store or within a change of it.
type Blobs interface {
	Read(ctx context.Context, b domarkx.Blob) ([]byte, error)
	Includes(ctx context.Context, tree string) ([]domarkx.Include, error)
	Origin(ctx context.Context, tree string) (*original.Document, error)
}
