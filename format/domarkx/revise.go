package domarkx

import (
	"iter"
	"maps"
	"slices"
)

// An Edit describes the messages of a thread after an edit.
type Edit struct {
	Alignment
	// Next holds the new messages. The caller sets Role, Date, Link, Layout, JSON and Source;
	// [Thread.Revise] sets the rest.
	Next []Entry
	// Same reports for each matched message whether it is unchanged.
	Same []bool
	// Joined maps each removed old message to the new message that contains its text, or -1. It may
	// be nil.
	Joined []int
	// NewID creates the id of new message j, which is inserted after the message with the id after. The id must have the
	// given clock.
	NewID func(j int, m Revised, clock uint32, after ID) ID
}

// A Revised is a message of a new thread. Origin is its name in the document that it was read from; "" if it has none, or if
// the message is unchanged.
type Revised struct {
	Entry
	Origin string
}

// Revise returns the thread after an edit. Matched messages keep their ids, and edited ones get a
// new revision; all others are inserted or removed. Texts in conflict remain in conflict only if
// the edit changes none of them. Otherwise the first remaining text keeps the id, and the others
// become separate messages.
func (t *Thread) Revise(e Edit) *Thread {
	next := &Thread{}
	r := Revising(EntryList(t.Live), t.Dead, e, func(j int) (Revised, error) { return Revised{Entry: e.Next[j]}, nil })
	for m, err := range r.Live() {
		if err != nil {
			panic(err) // the function above returns no error
		}
		next.Live = append(next.Live, m.Entry)
	}
	next.Dead = r.Dead()
	return next
}

// Revising is like [Thread.Revise] for large threads: instead of using e.Next, it calls next for
// each message that is not unchanged, in order, when the message is needed.
func Revising(live Entries, dead []Tombstone, e Edit, next func(j int) (Revised, error)) *Revision {
	r := &Revision{live: live, dead: dead, edit: e, made: next, kept: make([]bool, live.Len()), joined: map[int][]int{}, moved: map[int]bool{}}
	for i, j := range e.Joined {
		if j >= 0 && !InConflict(live, i) {
			r.joined[j] = append(r.joined[j], i)
		}
	}
	return r
}

// A Revision is a thread that is being revised.
type Revision struct {
	live   Entries
	dead   []Tombstone
	edit   Edit
	made   func(j int) (Revised, error)
	kept   []bool        // whether each old message remains
	joined map[int][]int // old messages by the new message that contains them
	moved  map[int]bool  // old messages that continue under another id
	last   ID            // the last old message that remained
	clocks map[ID]uint32 // see [Revision.clock]
}

// Live yields the messages of the new thread. If next returns an error, Live yields that error and
// ends. It can be used once.
func (r *Revision) Live() iter.Seq2[Revised, error] {
	return func(yield func(Revised, error) bool) {
		touched := r.touchedConflicts()
		after, at := ID{}, beginning
		for j := range r.edit.Match {
			m, i, err := r.message(j, after, at, touched)
			if !yield(m, err) || err != nil {
				return
			}
			if i >= 0 {
				r.kept[i], r.last = true, m.ID
			}
			after, at = m.ID, i
		}
	}
}

// Values for messages without an index in the old list.
const (
	beginning = -1 // before all messages
	inserted  = -2 // a new message
)

// message returns new message j and the index of the old message that it continues. It follows the
// message with id after, whose old index is at.
func (r *Revision) message(j int, after ID, at int, touched map[ID]bool) (Revised, int, error) {
	i := r.edit.Match[j]
	var was Entry
	if i >= 0 {
		if was = r.live.At(i); r.edit.Same[j] && !touched[was.ID] {
			return Revised{Entry: was}, i, nil
		}
	}
	m, err := r.made(j)
	switch {
	case err != nil:
		return m, inserted, err
	case i < 0, touched[was.ID] && r.last == was.ID: // another text of a message in conflict becomes a message of its own
		m.Entry = r.insert(j, m, after, at)
		return m, inserted, nil
	}
	m.Entry = r.replace(j, i, was, m.Entry)
	return m, i, nil
}

// Dead returns the tombstones of the new thread. Call it after Live has yielded all messages.
func (r *Revision) Dead() []Tombstone {
	dead := slices.Clone(r.dead)
	r.findHeirs()
	for i, n := 0, r.live.Len(); i < n; {
		first := i
		kept := r.kept[i]
		for i++; i < n && r.live.At(i).ID == r.live.At(first).ID; i++ {
			kept = kept || r.kept[i]
		}
		switch e := r.live.At(first); {
		case kept:
		case r.moved[first]: // another message has its text, so its revision is not replaced
			dead = append(dead, Tombstone{ID: e.ID, After: e.After, Past: e.Past})
		default:
			dead = append(dead, Tombstone{ID: e.ID, After: e.After, Past: history(r.live, first)})
		}
	}
	slices.SortFunc(dead, func(x, y Tombstone) int { return compareID(x.ID, y.ID) })
	return dead
}

// findHeirs adds to r.moved the removed messages that continue in a message of the new thread, or
// that continue one: that message has their text. The base of an import can contain both, a message
// and the message as which it continues since it was moved in the session.
func (r *Revision) findHeirs() {
	removed, stays := map[Rev]int{}, map[Rev]bool{}
	hasHeir := false // whether a removed message continues another one
	for i := range r.kept {
		if !r.kept[i] && !r.moved[i] {
			e := r.live.At(i)
			removed[goesOnIn(e.ID)] = i
			hasHeir = hasHeir || generations(e.Past) > 0
		}
	}
	for j := 0; j < len(r.kept) && len(removed) > 0; j++ {
		if !r.kept[j] && !r.moved[j] {
			continue
		}
		e := r.live.At(j)
		for _, rev := range e.Past {
			if i, ok := removed[rev]; ok {
				r.moved[i] = true
			}
		}
		if hasHeir {
			stays[goesOnIn(e.ID)] = true
		}
	}
	for _, i := range removed {
		if hasHeir && slices.ContainsFunc(r.live.At(i).Past, func(rev Rev) bool { return stays[rev] }) {
			r.moved[i] = true
		}
	}
}

// touchedConflicts returns the messages in conflict whose texts the edit changed, removed or
// separated.
func (r *Revision) touchedConflicts() map[ID]bool {
	var conflicts []int
	var before ID
	for i := range r.live.Len() {
		if id := r.live.At(i).ID; i > 0 && id == before {
			if n := len(conflicts); n == 0 || conflicts[n-1] != i-1 {
				conflicts = append(conflicts, i-1)
			}
			conflicts = append(conflicts, i)
		} else {
			before = id
		}
	}
	if len(conflicts) == 0 {
		return nil
	}
	place := map[int]int{} // new indexes of unchanged texts, by old index
	for j, i := range r.edit.Match {
		if _, isText := slices.BinarySearch(conflicts, i); isText && r.edit.Same[j] {
			place[i] = j
		}
	}
	touched := map[ID]bool{}
	for _, i := range conflicts {
		id := r.live.At(i).ID
		j, alone := place[i]
		if i > 0 && r.live.At(i-1).ID == id {
			before, ok := place[i-1]
			alone = alone && ok && before == j-1
		}
		if !alone {
			touched[id] = true
		}
	}
	return touched
}

func (r *Revision) replace(j, i int, old, entry Entry) Entry {
	entry.ID, entry.After = old.ID, old.After
	entry.Past = r.withJoined(j, history(r.live, i))
	entry.Rev = reviseText(entry)
	return entry
}

// withJoined returns past with the revisions of the messages that were joined to message j.
func (r *Revision) withJoined(j int, past []Rev) []Rev {
	for _, i := range r.joined[j] {
		past = continued(past, r.live.At(i).ID, history(r.live, i))
	}
	return past
}

// history returns all revisions of the message that has entry i.
func (t *Thread) history(i int) []Rev { return history(EntryList(t.Live), i) }

func history(live Entries, i int) []Rev {
	e := live.At(i)
	id := e.ID
	for i > 0 && live.At(i-1).ID == id {
		i--
	}
	past := live.At(i).Past
	for ; i < live.Len(); i++ {
		if e = live.At(i); e.ID != id {
			break
		}
		past = unionRevs(past, []Rev{e.Rev})
	}
	return past
}

// reviseText derives the revision of an entry from its text and from the revisions that it
// replaces. So the same edit on two sides has the same revision, and a message never has the same
// revision twice.
func reviseText(e Entry) Rev {
	parts := [][]byte{e.ID[:], blobKey(e.JSON), blobKey(e.Source), []byte(e.Link)}
	if e.Layout.Tight {
		parts = append(parts, []byte("tight"))
	}
	for _, rev := range e.Past {
		parts = append(parts, rev[:])
	}
	return DeriveRev(parts...)
}

// blobKey returns the content if it is in memory, else the object id. Callers must pass all texts
// of a message in the same form.
func blobKey(b Blob) []byte {
	if b.Data != nil {
		return b.Data
	}
	return []byte(b.ID)
}

func (r *Revision) insert(j int, m Revised, after ID, at int) Entry {
	entry := m.Entry
	entry.ID, entry.After = r.edit.NewID(j, m, r.clock(after, at), after), after
	entry.Rev, entry.Past = Rev{}, r.withJoined(j, nil)
	if i := r.edit.Moved[j]; i >= 0 && !InConflict(r.live, i) {
		from := r.live.At(i)
		entry.Rev, entry.Past = named(from.ID, from.Rev), continued(entry.Past, from.ID, from.Past)
		r.moved[i] = true
	}
	return entry
}

// clock returns 1 + the greatest clock of the messages that were inserted after a message, whose
// old index is at. Most messages were inserted after the one directly before them; the map contains
// only the others.
func (r *Revision) clock(after ID, at int) uint32 {
	if at == inserted {
		return 0
	}
	if r.clocks == nil {
		r.clocks = map[ID]uint32{}
		var before ID
		for i := range r.live.Len() {
			e := r.live.At(i)
			if e.After != before {
				r.clocks[e.After] = max(r.clocks[e.After], e.ID.Clock()+1)
			}
			before = e.ID
		}
		for _, d := range r.dead {
			r.clocks[d.After] = max(r.clocks[d.After], d.ID.Clock()+1)
		}
	}
	clock := r.clocks[after]
	for at++; at < r.live.Len(); at++ {
		e := r.live.At(at)
		if e.ID == after { // another text of that message
			continue
		}
		if e.After == after {
			clock = max(clock, e.ID.Clock()+1)
		}
		break
	}
	return clock
}

// Truncate returns the thread with only its first n messages.
func (t *Thread) Truncate(n int) *Thread {
	return t.Revert(&Thread{Live: t.Live[:n]})
}

// Revert returns the thread with the messages and texts of target, an earlier state of it.
func (t *Thread) Revert(target *Thread) *Thread {
	now, first := map[ID][]Entry{}, map[ID]int{}
	for i, e := range t.Live {
		if len(now[e.ID]) == 0 {
			first[e.ID] = i
		}
		now[e.ID] = append(now[e.ID], e)
	}
	dead := map[ID]Tombstone{}
	for _, d := range t.Dead {
		dead[d.ID] = d
	}
	next := &Thread{}
	heirs := t.heirs()
	taken := map[*lineage]bool{}
	for i := 0; i < len(target.Live); {
		end := i + 1
		for end < len(target.Live) && target.Live[end].ID == target.Live[i].ID {
			end++
		}
		id := target.Live[i].ID
		past := dead[id].Past
		if k, alive := first[id]; alive {
			past = t.history(k)
		}
		texts := target.Live[i:end]
		i = end
		if l := heirs[id]; l != nil && taken[l] { // a message of the same lineage is already in next
			next.Live = append(next.Live, t.restore(texts)...)
			continue
		} else if l != nil {
			taken[l] = true
			if heir := l.heir; heir.id != id {
				past = continued(past, heir.id, heir.past)
			}
		}
		next.Live = append(next.Live, revertTexts(texts, now[id], past)...)
		delete(dead, id)
		delete(now, id)
	}
	for id, texts := range now {
		dead[id] = Tombstone{ID: id, After: texts[0].After, Past: t.history(first[id])}
	}
	next.Dead = slices.SortedFunc(maps.Values(dead), func(x, y Tombstone) int { return compareID(x.ID, y.ID) })
	return next
}

// heirs returns the lineage of each message that has one.
func (t *Thread) heirs() map[ID]*lineage {
	m := merger{nodes: map[ID]*node{}}
	m.add(t)
	heirs := map[ID]*lineage{}
	for _, l := range lineages(m.nodes) {
		for _, n := range l.members {
			heirs[n.id] = l
		}
	}
	return heirs
}

// restore returns the texts of a message as a new message after it, because the message itself
// continues in another message that is restored too.
func (t *Thread) restore(texts []Entry) []Entry {
	id := texts[0].ID
	var clock uint32
	for _, e := range t.Live {
		if e.After == id {
			clock = max(clock, e.ID.Clock()+1)
		}
	}
	for _, d := range t.Dead {
		if d.After == id {
			clock = max(clock, d.ID.Clock()+1)
		}
	}
	restored := slices.Clone(texts)
	for k := range restored {
		e := &restored[k]
		e.Rev = named(id, e.Rev)
		e.ID, e.After, e.Past = DeriveID(clock, []byte("restored"), id[:]), id, nil
	}
	return restored
}

// revertTexts restores the wanted texts of a message: unchanged ones as they are, others with new
// revisions, because their old ones may be replaced.
func revertTexts(wanted, now []Entry, past []Rev) []Entry {
	if slices.EqualFunc(wanted, now, func(a, b Entry) bool { return a.Rev == b.Rev }) {
		return now
	}
	texts := make([]Entry, 0, len(wanted))
	for _, e := range wanted {
		e.Past = past
		e.Rev = reviseText(e)
		texts = append(texts, e)
	}
	slices.SortFunc(texts, func(x, y Entry) int { return compareRev(x.Rev, y.Rev) })
	return texts
}

// ReviseHeader returns the headers after an edit of the shown header, which also resolves a
// conflict. The new revision derives from normal, the header's JSON without the members that belong
// to one snapshot only.
func ReviseHeader(old []HeaderEntry, next HeaderEntry, normal []byte) []HeaderEntry {
	var past []Rev
	for _, h := range old {
		past = unionRevs(past, append(slices.Clone(h.Past), h.Rev))
	}
	parts := [][]byte{normal, blobKey(next.Source), []byte(next.Includes), []byte(next.Origin)}
	for _, rev := range past {
		parts = append(parts, rev[:])
	}
	next.Rev, next.Past = DeriveRev(parts...), past
	return []HeaderEntry{next}
}
