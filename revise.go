package domarkx

import (
	"iter"
	"slices"
)

// An Edit is a new list of messages for a thread.
type Edit struct {
	Alignment
	// Next holds the messages as they are now: Role, Date, Link, Layout, JSON and
	// Source are the caller's; [Thread.Revise] sets the rest.
	Next []Entry
	// Same says of each matched message that it is unchanged.
	Same []bool
	// NewID makes the id of Next[j], to be inserted after that message, with that clock.
	NewID func(j int, clock uint32, after ID) ID
}

// Revise returns the thread after an edit. Matched messages keep their id,
// edited ones get a new revision, all others are inserted or removed. Of the
// texts in a conflict, those that an edit left alone stay in conflict only when
// the edit left all of them alone; else the first that remains is the message,
// and others are messages of their own.
func (t *Thread) Revise(e Edit) *Thread {
	next := &Thread{}
	r := t.Revising(e, func(j int) (Entry, error) { return e.Next[j], nil })
	for entry := range r.Live() {
		next.Live = append(next.Live, entry)
	}
	next.Dead = r.Dead()
	return next
}

// Revising begins to revise a thread as Revise does, but next makes a message when its turn
// comes, in place of e.Next. It is not asked for those that are the same, nor for two at
// once.
func (t *Thread) Revising(e Edit, next func(j int) (Entry, error)) *Revision {
	return &Revision{thread: t, edit: e, made: next, kept: map[ID]bool{}}
}

// Live returns the messages, the first error of next as the last. It can be used once.
func (r *Revision) Live() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		t := r.thread
		touched := r.touchedConflicts()
		var after ID
		for j := range r.edit.Match {
			entry, err := r.message(j, after, touched)
			if !yield(entry, err) || err != nil {
				return
			}
			if len(t.Live) > 0 {
				r.kept[entry.ID] = true
			}
			after = entry.ID
		}
	}
}

// message returns message j, which comes after that one.
func (r *Revision) message(j int, after ID, touched map[ID]bool) (Entry, error) {
	t, i := r.thread, r.edit.Match[j]
	if i >= 0 && r.edit.Same[j] && !touched[t.Live[i].ID] {
		return t.Live[i], nil
	}
	entry, err := r.made(j)
	switch {
	case err != nil:
		return entry, err
	case i < 0, touched[t.Live[i].ID] && r.kept[t.Live[i].ID]:
		return r.insert(j, entry, after), nil
	}
	return r.replace(i, entry), nil
}

// Dead returns the tombstones, when all messages were taken.
func (r *Revision) Dead() []Tombstone {
	dead := slices.Clone(r.thread.Dead)
	for i, e := range r.thread.Live {
		if r.kept[e.ID] || i > 0 && r.thread.Live[i-1].ID == e.ID {
			continue
		}
		dead = append(dead, Tombstone{ID: e.ID, After: e.After, Past: r.thread.history(e.ID, i)})
	}
	slices.SortFunc(dead, func(x, y Tombstone) int { return compareID(x.ID, y.ID) })
	return dead
}

// A Revision is a thread that is being revised.
type Revision struct {
	thread *Thread
	edit   Edit
	made   func(j int) (Entry, error)
	kept   map[ID]bool
	clocks map[ID]uint32 // 1 + the greatest clock of what was inserted after a message
}

// touchedConflicts are the messages in conflict of which an edit changed or
// removed a text, or put something between two texts.
func (r *Revision) touchedConflicts() map[ID]bool {
	if !r.thread.hasConflict() {
		return nil
	}
	place := map[int]int{} // of unchanged live entries in the new list
	for j, i := range r.edit.Match {
		if i >= 0 && r.edit.Same[j] {
			place[i] = j
		}
	}
	touched := map[ID]bool{}
	for i, e := range r.thread.Live {
		if !r.thread.InConflict(i) {
			continue
		}
		j, alone := place[i]
		if i > 0 && r.thread.Live[i-1].ID == e.ID {
			before, ok := place[i-1]
			alone = alone && ok && before == j-1
		}
		if !alone {
			touched[e.ID] = true
		}
	}
	return touched
}

func (r *Revision) replace(i int, entry Entry) Entry {
	old := r.thread.Live[i]
	entry.ID, entry.After = old.ID, old.After
	entry.Past = r.thread.history(old.ID, i)
	entry.Rev = reviseText(entry)
	return entry
}

// history returns all revisions of a message that has a live text at i.
func (t *Thread) history(id ID, i int) []Rev {
	for i > 0 && t.Live[i-1].ID == id {
		i--
	}
	past := t.Live[i].Past
	for ; i < len(t.Live) && t.Live[i].ID == id; i++ {
		past = unionRevs(past, []Rev{t.Live[i].Rev})
	}
	return past
}

// reviseText derives the revision of an entry from its text and what it
// replaces: the same edit made on two sides is one edit, and no revision comes
// twice in a message's history.
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

// blobKey is the content where it is at hand, else the object id; callers give
// one message's texts always the same way.
func blobKey(b Blob) []byte {
	if b.Data != nil {
		return b.Data
	}
	return []byte(b.ID)
}

func (r *Revision) insert(j int, entry Entry, after ID) Entry {
	if r.clocks == nil {
		r.clocks = map[ID]uint32{}
		for _, e := range r.thread.Live {
			r.clocks[e.After] = max(r.clocks[e.After], e.ID.Clock()+1)
		}
		for _, d := range r.thread.Dead {
			r.clocks[d.After] = max(r.clocks[d.After], d.ID.Clock()+1)
		}
	}
	clock := r.clocks[after]
	entry.ID, entry.After = r.edit.NewID(j, clock, after), after
	entry.Rev, entry.Past = Rev{}, nil
	if len(r.clocks) > 0 { // else nothing was inserted before, and nothing will be after the same one
		r.clocks[after] = clock + 1
	}
	return entry
}

// Truncate returns the thread with its first n messages; what stood behind them
// is removed.
func (t *Thread) Truncate(n int) *Thread {
	return t.Revert(&Thread{Live: t.Live[:n]})
}

// Revert returns the thread with the messages and texts that it had in an
// earlier state of itself.
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
	for i := 0; i < len(target.Live); {
		end := i + 1
		for end < len(target.Live) && target.Live[end].ID == target.Live[i].ID {
			end++
		}
		id := target.Live[i].ID
		past := dead[id].Past
		if k, alive := first[id]; alive {
			past = t.history(id, k)
		}
		next.Live = append(next.Live, revertTexts(target.Live[i:end], now[id], past)...)
		delete(dead, id)
		delete(now, id)
		i = end
	}
	for id, texts := range now {
		dead[id] = Tombstone{ID: id, After: texts[0].After, Past: t.history(id, first[id])}
	}
	for _, d := range dead {
		next.Dead = append(next.Dead, d)
	}
	slices.SortFunc(next.Dead, func(x, y Tombstone) int { return compareID(x.ID, y.ID) })
	return next
}

// revertTexts gives a message the wanted texts again: unchanged ones as they
// are, others under new revisions, for those they had may be replaced.
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

// ReviseHeader returns the headers after an edit of the one that is shown. An
// edit settles a conflict; an unchanged header changes nothing. normal is what
// the revision is derived from: the header's JSON without what belongs to one
// snapshot alone.
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
