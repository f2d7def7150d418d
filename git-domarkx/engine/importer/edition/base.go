package edition

import (
	"context"
	"crypto/sha256"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// The base of a document is the snapshot from which the document was made. It need not be the snapshot of the last
// import: the document may be an export of another snapshot, which the other program then continued. So the base is
// found by comparing the document with snapshots.

// Limits of the search for a base.
const (
	maxBaseSnapshots = 10_000  // number of snapshots whose commits are read
	maxBaseMessages  = 1 << 20 // number of messages in all snapshots that are compared
)

// The weights of differences between a document and a snapshot. A message that only one of them has weighs most.
const (
	otherMessage = 8 // only the document or only the snapshot has the message
	otherText    = 4 // both have the message of the other program, with different texts
	otherBytes   = 2 // both have the words of the message, with different bytes
	otherHeader  = 1
)

// Base returns the snapshot of a session that differs least from the document. If several differ equally, it
// prefers the snapshot of the last import, and then the newest. known is the snapshot of the last import.
//
// A snapshot before the last import can be the base only if the document contains all messages of the snapshot, and
// none of them was removed since. Another snapshot can be the base only if the document contains a message from it that
// the last import does not have: otherwise an old document would undo later changes of the session.
func (c *Comparison) Base(ctx context.Context, known string, tip domarkx.Info) (string, error) {
	if tip.ID != known && !engine.IsForm(c.Codec.Name) { // another format may show a snapshot differently
		if base, err := c.Exported(ctx, c.Content, c.Codec, c.Edit.Doc.Header, tip); err != nil || base != "" {
			return base, err
		}
	}
	least, err := c.distance(known, nil)
	if err != nil {
		return "", err
	}
	c.last = least.match
	if known == tip.ID && least.missing == 0 && least.edited == 0 {
		return known, nil // no other snapshot can match better
	}
	alive, err := c.alive(known)
	if err != nil {
		return "", err
	}
	base, seen, left := known, 0, maxBaseMessages
	for info, err := range c.Store.Ancestors(ctx, tip.ID) {
		if err != nil {
			return "", err
		}
		if c.Codec.Name == string(engine.JSON) && engine.DerivedSnapshotID(info.ID) == c.Edit.Doc.Header.SnapshotID {
			return info.ID, nil
		}
		if seen++; seen > maxBaseSnapshots {
			break
		}
		apart := otherMessage * max(info.Messages-len(c.keys), len(c.keys)-info.Messages)
		if apart >= least.weight || info.ID == known {
			continue
		}
		if left -= info.Messages; left < 0 && seen > 1 {
			break
		}
		d, err := c.distance(info.ID, alive)
		if err != nil {
			return "", err
		}
		if d.weight >= least.weight {
			continue
		}
		if evident := c.isEvident(d); d.weight > 0 && (d.missing > 0 || d.removed || !evident) {
			if before, err := c.Store.IsAncestor(ctx, info.ID, known); err != nil {
				return "", err
			} else if before && (d.missing > 0 || d.removed) || !before && !evident {
				continue
			}
		}
		base, least = info.ID, d
	}
	return base, nil
}

// A Comparison compares a document with snapshots of its session. Two messages have the same key if they have the same
// bytes or the same words.
type Comparison struct {
	Maker
	Document
	ctx    context.Context
	header domarkx.Key
	keys   []domarkx.Key               // digests of the bytes of the document's messages
	known  map[domarkx.Key]bool        // set of keys
	said   map[domarkx.Key]domarkx.Key // [saidKey] of a message → the first key with the same words; nil until needed
	first  map[domarkx.Key]domarkx.Key // each of keys → the first key with the same words
	stored map[string]domarkx.Key      // id of the JSON of a stored message → its key
	loaded *domarkx.PackedState        // content of the snapshot that was loaded last
	loadID string                      // id of that snapshot
	last   []int                       // [distance.match] of the snapshot of the last import
}

// load returns the content of a snapshot. It keeps the last one in memory.
func (c *Comparison) load(snapshot string) (*domarkx.PackedState, error) {
	if c.loaded != nil && c.loadID == snapshot {
		return c.loaded, nil
	}
	state, err := c.Store.LoadPacked(c.ctx, snapshot)
	if err == nil {
		c.loaded, c.loadID = state, snapshot
	}
	return state, err
}

// Compare prepares a comparison of a document with the snapshots of its session.
func (m Maker) Compare(ctx context.Context, d Document) (*Comparison, error) {
	if err := d.Edit.Scan(); err != nil {
		return nil, err
	}
	n := d.Edit.Len()
	c := &Comparison{Maker: m, Document: d, ctx: ctx, header: headerKey(d.Edit.Doc.Header), keys: make([]domarkx.Key, n),
		known: make(map[domarkx.Key]bool, n), stored: map[string]domarkx.Key{}}
	for j, piece := range d.Edit.Scanned {
		c.keys[j] = piece.Digest
		c.known[piece.Digest] = true
	}
	return c, nil
}

// saidKey returns a key for the role and the words of a message, because formats write other parts of it differently.
func saidKey(m domarkx.Message) domarkx.Key {
	h := sha256.New()
	h.Write([]byte(m.Role))
	for _, b := range m.Content {
		for word := range strings.FieldsSeq(b.Text) {
			h.Write([]byte{0})
			h.Write([]byte(word))
		}
	}
	return domarkx.Key(h.Sum(nil))
}

// headerKey returns a key for the user metadata of a header.
func headerKey(h domarkx.Header) domarkx.Key { return sha256.Sum256(view.PrettyJSON(h.Meta())) }

// A distance describes how a snapshot differs from the document.
type distance struct {
	missing int // messages that only the snapshot has
	edited  int // messages that both have with different bytes
	weight  int
	removed bool  // whether the last import does not have some messages of the snapshot
	match   []int // by message of the document: the equal message of the snapshot, or -1
}

// isEvident reports whether the document contains a message from a snapshot that the last import does not have, or has
// in another order. This proves that the document was made from that snapshot or a later one.
func (c *Comparison) isEvident(d distance) bool {
	for j, i := range d.match {
		if i >= 0 && c.last[j] < 0 {
			return true
		}
	}
	return false
}

// distance compares the document with a snapshot. alive contains the messages of the last import.
func (c *Comparison) distance(snapshot string, alive map[domarkx.ID]bool) (distance, error) {
	state, err := c.load(snapshot)
	if err != nil {
		return distance{}, err
	}
	d, matched := distance{}, 0
	was := make([]domarkx.Key, state.Live.Len())
	for i := range was {
		e := state.Live.At(i)
		d.removed = d.removed || !alive[e.ID]
		if was[i], err = c.key(e); err != nil {
			return distance{}, err
		}
	}
	keys := c.keys
	if c.said != nil {
		keys = make([]domarkx.Key, len(c.keys))
		for j, key := range c.keys {
			keys[j] = c.first[key]
		}
		for i, key := range was {
			if first, ok := c.first[key]; ok {
				was[i] = first
			}
		}
	}
	d.match = domarkx.Align(was, keys, neverAlike).Match
	for j, i := range d.match {
		if i < 0 {
			continue
		}
		matched++
		if domarkx.Key(state.Live.At(i).Layout.Digest) != c.keys[j] {
			d.edited++
		}
	}
	rewritten, err := c.rewritten(state, d.match)
	if err != nil {
		return distance{}, err
	}
	d.weight = otherBytes*d.edited + otherText*rewritten
	matched, d.edited = matched+rewritten, d.edited+rewritten
	d.missing = len(was) - matched
	d.weight += otherMessage * (d.missing + len(c.keys) - matched)
	h, err := view.LoadHeader(c.ctx, c.Store, state.Headers[:1])
	if headerKey(h) != c.header {
		d.weight += otherHeader
	}
	return d, err
}

// rewritten returns the number of messages of a snapshot that the document contains with another text, because the other
// program has written them again: for example, a message whose calls had no results yet. match aligns the equal messages.
func (c *Comparison) rewritten(state *domarkx.PackedState, match []int) (int, error) {
	n, next := 0, 0 // next is the first stored message that can be the next one of the document
	for j, i := range match {
		if i >= 0 {
			next = i + 1
			continue
		}
		if next == state.Live.Len() {
			continue
		}
		msg, err := c.Edit.At(j)
		if err != nil {
			return n, err
		}
		e := state.Live.At(next)
		if msg.Origin != "" && e.ID == edit.OriginID(e.ID.Clock(), e.After, msg.Origin) {
			n, next = n+1, next+1
		}
	}
	return n, nil
}

// alive returns the ids of a snapshot's messages.
func (c *Comparison) alive(snapshot string) (map[domarkx.ID]bool, error) {
	state, err := c.load(snapshot)
	if err != nil {
		return nil, err
	}
	alive := make(map[domarkx.ID]bool, state.Live.Len())
	for k := range state.Live.Len() {
		alive[state.Live.At(k).ID] = true
	}
	return alive, nil
}

// shares reports whether the tip has a message that the base does not have, with the same words as a message of the
// document that the base does not have either.
func (c *Comparison) shares(base, tip *view.View, inBase []int) (bool, error) {
	revs := make(map[domarkx.Rev]bool)
	has := make(map[domarkx.ID]bool, base.Live.Len())
	for i := range base.Live.Len() {
		e := base.Live.At(i)
		has[e.ID], revs[e.Rev] = true, true
	}
	if err := c.listen(); err != nil {
		return false, err
	}
	added := map[domarkx.Key]bool{}
	for j, i := range inBase {
		if i < 0 {
			added[c.first[c.keys[j]]] = true
		}
	}
	for t := 0; t < tip.Live.Len() && len(added) > 0; t++ {
		e := tip.Live.At(t)
		if has[e.ID] && revs[e.Rev] {
			continue
		}
		key, err := c.key(e)
		if first, ok := c.first[key]; ok {
			key = first
		}
		if err != nil || added[key] {
			return err == nil, err
		}
	}
	return false, nil
}

// neverAlike makes an alignment match only equal messages.
func neverAlike(int, int) domarkx.Likeness { return domarkx.Unlike }

// key returns the key of a stored message. It reads the message only if the document has no message with the same
// bytes, and reads it once for all snapshots.
func (c *Comparison) key(e domarkx.Entry) (domarkx.Key, error) {
	if digest := domarkx.Key(e.Layout.Digest); c.known[digest] {
		return digest, nil
	}
	if key, ok := c.stored[e.JSON.ID]; ok {
		return key, nil
	}
	if err := c.listen(); err != nil {
		return domarkx.Key{}, err
	}
	msg, err := view.LoadMessage(c.ctx, c.Store, e)
	key := saidKey(msg)
	if same, ok := c.said[key]; ok {
		key = same
	}
	c.stored[e.JSON.ID] = key
	return key, err
}

// listen sets c.said and c.first, for which it reads the document's messages.
func (c *Comparison) listen() error {
	if c.said != nil {
		return nil
	}
	c.said, c.first = make(map[domarkx.Key]domarkx.Key, len(c.keys)), make(map[domarkx.Key]domarkx.Key, len(c.keys))
	for j, key := range c.keys {
		msg, err := c.Edit.At(j)
		if err != nil {
			return err
		}
		said := saidKey(msg.Message)
		if _, ok := c.said[said]; !ok {
			c.said[said] = key
		}
		c.first[key] = c.said[said]
	}
	return nil
}
