package edition

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer/document"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A shown is what remains of a snapshot after an export to a format and an import from it. Most formats cannot contain
// all of a session.
type shown struct {
	header domarkx.Header
	keys   []domarkx.Key // keys of the messages (see [jsonKey])
	of     []int         // by shown message: the index of the message in the snapshot, ascending; -1 for none
	digest [sha256.Size]byte
}

// otherSession returns the session of the other program to which a document belongs, so that an export of it can be the
// same document: a transcript with which another program continues has an id and directory of its own. It returns nil
// if the document has the session's id, or no known id.
func otherSession(codec format.Codec, session, h domarkx.Header) *format.NewSession {
	dir := transcript.Text(h.Meta(), "cwd")
	if codec.Identify == nil || transcript.Text(h.Meta(), "agent") != codec.Name || dir == "" {
		return nil
	}
	id := codec.Identify(h).SessionID
	if id == "" || id == codec.Identify(session).SessionID || codec.Identify(h).Parent != "" {
		return nil
	}
	return &format.NewSession{ID: id, WorkDir: dir}
}

// show exports a snapshot in the document's format, and reads the export.
func (mk *making) show(ctx context.Context, v *view.View, info domarkx.Info) (*shown, error) {
	session, err := v.Header(ctx)
	if err != nil {
		return nil, err
	}
	e := &engine.Export{Name: mk.tip.Name, Codec: mk.Codec}
	if err := mk.Sessions.ExportWhole(ctx, e, info, engine.ExportRequest{New: otherSession(mk.Codec, session, mk.Edit.Doc.Header)}); err != nil {
		return nil, err
	}
	c, err := document.Temporary(e.Content)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.ReadThrough(sha256.New(), false); err != nil {
		return nil, err
	}
	for conv, err := range c.Conversations(mk.Codec, mk.Path, nil) {
		if err != nil {
			return nil, err
		}
		s, err := readShown(ctx, &edit.Edit{Blobs: mk.Store, Base: v, Doc: conv.Doc, Messages: conv.Messages})
		if err == nil {
			s.digest = c.Digest
		}
		return s, err
	}
	return &shown{header: domarkx.NewHeader()}, nil
}

// readShown returns what an export of the edition's base contains.
func readShown(ctx context.Context, e *edit.Edit) (*shown, error) {
	s := &shown{header: e.Doc.Header}
	var err error
	if e.Keys, err = e.Base.Keys(ctx); err != nil {
		return nil, err
	}
	if s.keys, err = e.JSONKeys(); err != nil {
		return nil, err
	}
	if err := e.SettleStated(ctx); err != nil {
		return nil, err
	}
	edit, same, err := e.Align(ctx, e.Base.Live)
	if err != nil {
		return nil, err
	}
	if s.of = edit.Match; same {
		s.of = make([]int, e.Len())
		for i := range s.of {
			s.of[i] = i
		}
	}
	return s, nil
}

// A position is the index of a message of a restored document in the base and in the document.
type position struct {
	base int // -1 if the message is only in the document
	doc  int // -1 if the message is only in the base
}

// restore returns the messages of a document that was made from a shown snapshot. n is the number of messages of the
// snapshot. Unchanged messages come from the snapshot. Messages that the format cannot contain keep their places.
func (s *shown) restore(n int, doc []domarkx.Key) []position {
	at := slices.Repeat([]int{-1}, len(s.keys)) // by shown message: the index in the document; -1 if the message was removed
	same := make([]bool, len(s.keys))
	match := append(domarkx.Align(s.keys, doc, neverAlike).Match, len(s.keys))
	was, now := 0, 0
	for j, i := range match {
		if i < 0 {
			continue
		}
		for ; was < i && now < j; was, now = was+1, now+1 { // as many messages in the same place: each was edited
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
		} // otherwise the export shows it for a message that has its position already
	}
	for ; kept < n; kept++ {
		places = append(places, position{kept, -1})
	}
	for ; next < len(doc); next++ {
		places = append(places, position{-1, next})
	}
	return places
}

// restoreHeader applies the changes that a document makes to the shown header to the header of the snapshot. It reports
// whether there are any.
func (s *shown) restoreHeader(codec format.Codec, was, now domarkx.Header) (domarkx.Header, bool) {
	if edit.JSONKey(s.header.Value()) == edit.JSONKey(now.Value()) {
		return was, false
	}
	if codec.Name == string(engine.JSON) { // a document in JSON contains the whole header
		if now.SnapshotID == s.header.SnapshotID {
			now.SnapshotID = was.SnapshotID
		}
		if now.ImportTimestamp == s.header.ImportTimestamp {
			now.ImportTimestamp = was.ImportTimestamp
		}
		return now, true
	}
	about, before, said := jsonvalue.ObjectValue(was.Meta().Members()...), s.header.Meta(), now.Meta()
	isNew := codec.Identify != nil && codec.Identify(was).ID == "" // the other program has made a session of its own from an export
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

// restored contains the messages of a restored document.
type restored struct {
	ctx    context.Context
	base   *view.View
	doc    *edit.Edit
	places []position
}

// Base returns the index of message j in the base, or -1 if the base does not have it.
func (r *restored) Base(j int) int { return r.places[j].base }

// Len returns the number of messages.
func (r *restored) Len() int { return len(r.places) }

// At returns message k.
func (r *restored) At(k int) (domarkx.WrittenMessage, error) {
	p := r.places[k]
	if p.base < 0 {
		return r.doc.At(p.doc)
	}
	return r.base.Written(r.ctx, p.base)
}

// isBase reports whether the restored document equals the base.
func (r *restored) isBase() bool {
	return len(r.places) == r.base.Live.Len() && !slices.ContainsFunc(r.places, func(p position) bool { return p.base < 0 })
}
