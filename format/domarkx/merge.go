package domarkx

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
)

// MergeStates is [Merge] for whole states. It merges the headers like the texts of a message that
// both sides may have edited: those that neither side replaced remain, sorted by revision.
func MergeStates(a, b *State) *State {
	return &State{Headers: mergeHeaders(a.Headers, b.Headers), Thread: *Merge(&a.Thread, &b.Thread)}
}

// MergeGrown is like [MergeStates] for two imports of one document that has grown in between. If
// both imported a message with the same revision, the text of the newer import counts, because the
// message may have grown, too.
func MergeGrown(older, newer *State) *State {
	m := merger{nodes: map[ID]*node{}}
	m.add(&older.Thread)
	m.newer = true
	m.add(&newer.Thread)
	return &State{Headers: mergeHeaders(older.Headers, newer.Headers), Thread: *m.merged()}
}

// DropContinued removes the headers of earlier imports of a document that has grown since: each
// header that another one continues, as continues reports. The remaining headers record the removed
// revisions as replaced. Errors are those of continues.
func DropContinued(headers []HeaderEntry, continues func(longer, shorter HeaderEntry) (bool, error)) ([]HeaderEntry, error) {
	var kept []HeaderEntry
	var gone []Rev
	for i, shorter := range headers {
		isGone := false
		for j := 0; j < len(headers) && !isGone; j++ {
			var err error
			if i != j {
				isGone, err = continues(headers[j], shorter)
			}
			if err != nil {
				return nil, err
			}
		}
		if isGone {
			gone = append(gone, shorter.Rev)
		} else {
			kept = append(kept, shorter)
		}
	}
	for i := range kept {
		kept[i].Past = unionRevs(kept[i].Past, gone)
	}
	return kept, nil
}

func mergeHeaders(a, b []HeaderEntry) []HeaderEntry {
	var past []Rev
	for _, h := range slices.Concat(a, b) {
		past = unionRevs(past, h.Past)
	}
	byRev := map[Rev]HeaderEntry{}
	keep := func(h HeaderEntry) {
		if old, ok := byRev[h.Rev]; !ok || compareHeader(h, old) < 0 {
			h.Past = past
			byRev[h.Rev] = h
		}
	}
	for _, h := range slices.Concat(a, b) {
		if _, gone := slices.BinarySearchFunc(past, h.Rev, compareRev); !gone {
			keep(h)
		}
	}
	if len(byRev) == 0 { // they replace each other, which happens only in a forged repository
		for _, h := range slices.Concat(a, b) {
			keep(h)
		}
	}
	return slices.SortedFunc(maps.Values(byRev), func(x, y HeaderEntry) int { return compareRev(x.Rev, y.Rev) })
}

// compareHeader orders two entries with the same revision. They can differ, because one of them may
// lack members that belong to an earlier snapshot only.
func compareHeader(a, b HeaderEntry) int {
	return cmp.Or(cmp.Compare(a.JSON.ID, b.JSON.ID), cmp.Compare(a.Source.ID, b.Source.ID),
		bytes.Compare(a.Layout.Digest[:], b.Layout.Digest[:]), cmp.Compare(a.Includes, b.Includes), cmp.Compare(a.Origin, b.Origin))
}

// Merge returns the union of two threads. It is commutative, associative and idempotent.
//
//   - Messages are in depth-first order of the insert-after tree, siblings with greater ids first,
//     so that runs written concurrently do not interleave.
//   - A revision that either side replaced is dropped. An edit therefore wins over a removal, and
//     two edits of one message remain as two entries with the same id.
//   - A message that was moved or joined to another counts as one message with that other. It
//     appears once, even if both sides moved it. An edit of a message that was joined elsewhere
//     becomes a second text.
func Merge(a, b *Thread) *Thread {
	m := merger{nodes: map[ID]*node{}}
	m.add(a)
	m.add(b)
	return m.merged()
}

func (m *merger) merged() *Thread {
	for _, l := range lineages(m.nodes) {
		l.gather()
	}
	return m.thread()
}

func (m *merger) add(t *Thread) {
	for _, e := range t.Live {
		n := m.node(e.ID, e.After, e.Past)
		old, ok := n.texts[e.Rev]
		switch {
		case ok && m.newer && e.JSON.ID != old.JSON.ID:
			e.Link = cmp.Or(e.Link, old.Link)
			n.texts[e.Rev] = e
		case !ok || compareContent(e, old) < 0:
			n.texts[e.Rev] = e
		}
	}
	for _, d := range t.Dead {
		m.node(d.ID, d.After, d.Past)
	}
}

// compareContent orders two entries with the same revision. Entries that both sides moved can
// differ in date and blank lines. Other differences result only from damage or forgery.
func compareContent(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.JSON.ID, b.JSON.ID), cmp.Compare(a.Source.ID, b.Source.ID),
		cmp.Compare(a.Date, b.Date), compareLink(a.Link, b.Link), compareLayout(a.Layout, b.Layout))
}

// compareLink orders links, an absent one last: of two clones that imported a transcript, perhaps
// only one knows the link.
func compareLink(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(a, b)
}

type node struct {
	id    ID
	after ID
	past  []Rev
	texts map[Rev]Entry
}

type merger struct {
	nodes map[ID]*node
	newer bool // threads added from now on are of a newer import
}

func (m *merger) node(id, after ID, past []Rev) *node {
	n, ok := m.nodes[id]
	if !ok {
		n = &node{id: id, after: after, texts: map[Rev]Entry{}}
		m.nodes[id] = n
	}
	if compareID(after, n.after) < 0 { // they differ only in a damaged repository
		n.after = after
	}
	n.past = unionRevs(n.past, past)
	return n
}

func (m *merger) thread() *Thread {
	t := &Thread{}
	for _, n := range m.order() {
		alive := false
		for _, rev := range slices.SortedFunc(maps.Keys(n.texts), compareRev) {
			if _, gone := slices.BinarySearchFunc(n.past, rev, compareRev); gone {
				continue
			}
			e := n.texts[rev]
			e.After, e.Past = n.after, n.past
			t.Live = append(t.Live, e)
			alive = true
		}
		if !alive {
			t.Dead = append(t.Dead, Tombstone{ID: n.id, After: n.after, Past: n.past})
		}
	}
	slices.SortFunc(t.Dead, func(x, y Tombstone) int { return compareID(x.ID, y.ID) })
	return t
}

// order returns the messages in the order of the insert-after tree. A message whose predecessor is
// unknown is placed at the beginning. A cycle is broken at its smallest id. Both happen only in
// damaged repositories, but even there no message may be lost.
func (m *merger) order() []*node {
	children := map[ID][]*node{}
	for _, n := range m.nodes {
		after := n.after
		if _, known := m.nodes[after]; !known {
			after = ID{}
		}
		children[after] = append(children[after], n)
	}
	for _, siblings := range children {
		slices.SortFunc(siblings, func(x, y *node) int { return compareID(x.id, y.id) }) // walk reverses them
	}
	ordered := make([]*node, 0, len(m.nodes))
	seen := make(map[ID]bool, len(m.nodes))
	walk := func(stack []*node) {
		for len(stack) > 0 {
			n := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[n.id] {
				continue
			}
			seen[n.id] = true
			ordered = append(ordered, n)
			stack = append(stack, children[n.id]...)
		}
	}
	walk(slices.Clone(children[ID{}]))
	if len(ordered) < len(m.nodes) {
		for _, id := range slices.SortedFunc(maps.Keys(m.nodes), compareID) {
			walk([]*node{m.nodes[id]})
		}
	}
	return ordered
}
