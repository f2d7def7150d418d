package engine

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A shown is the part of a snapshot that survives an export to some format and an import. Most
// formats hold less than a session.
type shown struct {
	header domarkx.Header
	keys   []domarkx.Key // of the messages, see [jsonKey]
	of     []int         // by shown message: the message of the snapshot, in ascending order; -1 for none
	digest [sha256.Size]byte
}

// show exports a snapshot and reads the export again.
func (imp *importer) show(ctx context.Context, in input, name string, v *view.View, info domarkx.Info) (*shown, error) {
	m := imp.manager
	e := &Export{name: name, codec: in.codec}
	if err := m.exportWhole(ctx, e, info, ExportRequest{}); err != nil {
		return nil, err
	}
	f, err := e.aside("")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return nil, err
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, io.NewSectionReader(f, 0, stat.Size())); err != nil {
		return nil, err
	}
	exported := input{path: in.path, codec: in.codec, content: f, size: stat.Size()}
	for conv, err := range exported.conversations(nil) {
		if err != nil {
			return nil, err
		}
		again := m.edition(v, conv.doc, imp.change.Committer)
		again.messages = conv.messages
		s, err := readShown(ctx, again)
		if err == nil {
			digest.Sum(s.digest[:0])
		}
		return s, err
	}
	return &shown{header: domarkx.NewHeader()}, nil
}

// readShown returns the contents of an export of the edition's base.
func readShown(ctx context.Context, e *edition) (*shown, error) {
	s := &shown{header: e.doc.Header}
	var err error
	if e.keys, err = e.base.Keys(ctx); err != nil {
		return nil, err
	}
	if s.keys, err = e.jsonKeys(); err != nil {
		return nil, err
	}
	if err := e.settleStated(ctx); err != nil {
		return nil, err
	}
	edit, same, err := e.align(ctx, e.base.Live)
	if err != nil {
		return nil, err
	}
	if s.of = edit.Match; same {
		s.of = make([]int, e.len())
		for i := range s.of {
			s.of[i] = i
		}
	}
	return s, nil
}

// jsonKeys returns the keys of the document's messages; see [jsonKey].
func (e *edition) jsonKeys() ([]domarkx.Key, error) {
	keys := make([]domarkx.Key, e.len())
	for j := range keys {
		msg, err := e.at(j)
		if err != nil {
			return nil, err
		}
		keys[j] = jsonKey(msg.Message.Value())
	}
	return keys, nil
}

// jsonKey identifies a JSON value regardless of the order of object members.
func jsonKey(v domarkx.Value) domarkx.Key {
	h := sha256.New()
	hashJSON(h, v)
	return domarkx.Key(h.Sum(nil))
}

func hashJSON(w io.Writer, v domarkx.Value) {
	switch v.Kind() {
	case domarkx.Object:
		members := slices.Clone(v.Members())
		slices.SortStableFunc(members, func(a, b domarkx.Member) int { return strings.Compare(a.Name, b.Name) })
		fmt.Fprintf(w, "{%d", len(members))
		for _, m := range members {
			io.WriteString(w, domarkx.StringValue(m.Name).JSON())
			hashJSON(w, m.Value)
		}
	case domarkx.Array:
		fmt.Fprintf(w, "[%d", len(v.Items()))
		for _, item := range v.Items() {
			hashJSON(w, item)
		}
	default:
		io.WriteString(w, v.JSON())
	}
}

// A position identifies a message of a restored document, which comes from the base or from the
// document.
type position struct {
	base int // -1 if it comes from the document
	doc  int // -1 if the document does not have it
}

// restore returns the messages of a document that was made from a shown snapshot with n messages.
// Unchanged messages are taken from the snapshot. Messages that the format does not show stay at
// their positions.
func (s *shown) restore(n int, doc []domarkx.Key) []position {
	at := make([]int, len(s.keys)) // by shown message: index in the document; -1 if it was removed
	same := make([]bool, len(s.keys))
	for i := range at {
		at[i] = -1
	}
	match := append(domarkx.Align(s.keys, doc, neverAlike).Match, len(s.keys))
	was, now := 0, 0
	for j, i := range match {
		if i < 0 {
			continue
		}
		for ; was < i && now < j; was, now = was+1, now+1 { // edited in place, one after the other
			at[was] = now
		}
		if i < len(at) {
			at[i], same[i] = j, true
		}
		was, now = i+1, j+1
	}
	var places []position
	kept, next := 0, 0
	for i, k := range s.of {
		for ; k >= 0 && kept < k; kept++ {
			places = append(places, position{kept, -1})
		}
		kept = max(kept, k+1)
		if at[i] < 0 {
			continue
		}
		for ; next < at[i]; next++ {
			places = append(places, position{-1, next})
		}
		next++
		switch {
		case same[i] && k >= 0:
			places = append(places, position{k, at[i]})
		case !same[i]:
			places = append(places, position{-1, at[i]})
		} // otherwise, it was shown for a message that already has a position
	}
	for ; kept < n; kept++ {
		places = append(places, position{kept, -1})
	}
	for ; next < len(doc); next++ {
		places = append(places, position{-1, next})
	}
	return places
}

// restoreHeader applies the document's changes to the shown header to the header of the snapshot.
// It reports whether there are changes.
func (s *shown) restoreHeader(codec format.Codec, was, now domarkx.Header) (domarkx.Header, bool) {
	if jsonKey(s.header.Value()) == jsonKey(now.Value()) {
		return was, false
	}
	if codec.Name == string(JSON) { // JSON contains the whole header
		if now.SnapshotID == s.header.SnapshotID {
			now.SnapshotID = was.SnapshotID
		}
		if now.ImportTimestamp == s.header.ImportTimestamp {
			now.ImportTimestamp = was.ImportTimestamp
		}
		return now, true
	}
	about, before, said := metadataOf(was), metadataOf(s.header), metadataOf(now)
	isNew := codec.Identify != nil && codec.Identify(was).ID == "" // the program has made the session its own
	for _, m := range said.Members() {
		if shown, ok := before.Get(m.Name); isNew || !ok || !shown.Equal(m.Value) {
			about = about.With(m.Name, m.Value)
		}
	}
	for _, m := range before.Members() {
		if _, ok := said.Get(m.Name); !ok {
			about = about.Without(m.Name)
		}
	}
	was.UserMetadata = &about
	return was, true
}

func metadataOf(h domarkx.Header) domarkx.Value {
	if h.UserMetadata == nil {
		return domarkx.ObjectValue()
	}
	return *h.UserMetadata
}

// restored holds the messages of a restored document.
type restored struct {
	ctx    context.Context
	base   *view.View
	doc    *edition
	places []position
}

// Len returns the number of messages.
func (r *restored) Len() int { return len(r.places) }

// At returns message k.
func (r *restored) At(k int) (domarkx.WrittenMessage, error) {
	p := r.places[k]
	if p.base < 0 {
		return r.doc.at(p.doc)
	}
	return r.base.Written(r.ctx, p.base)
}

// isBase reports whether the document equals the base.
func (r *restored) isBase() bool {
	return len(r.places) == r.base.Live.Len() && !slices.ContainsFunc(r.places, func(p position) bool { return p.base < 0 })
}
