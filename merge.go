package domarkx

import (
	"bytes"
	"cmp"
	"slices"
)

// MergeStates is [Merge] for whole states. The headers are one more text that
// may have changed on both sides: what neither side replaced stays, the smallest
// revision first.
func MergeStates(a, b *State) *State {
	return &State{Headers: mergeHeaders(a.Headers, b.Headers), Thread: *Merge(&a.Thread, &b.Thread)}
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
	if len(byRev) == 0 { // each replaced the other: only in a forged repository
		for _, h := range slices.Concat(a, b) {
			keep(h)
		}
	}
	merged := make([]HeaderEntry, 0, len(byRev))
	for _, h := range byRev {
		merged = append(merged, h)
	}
	slices.SortFunc(merged, func(x, y HeaderEntry) int { return compareRev(x.Rev, y.Rev) })
	return merged
}

// compareHeader orders two entries of one revision: one may have lost what
// belonged to an earlier snapshot alone.
func compareHeader(a, b HeaderEntry) int {
	return cmp.Or(cmp.Compare(a.JSON.ID, b.JSON.ID), cmp.Compare(a.Source.ID, b.Source.ID),
		bytes.Compare(a.Layout.Digest[:], b.Layout.Digest[:]), cmp.Compare(a.Includes, b.Includes), cmp.Compare(a.Origin, b.Origin))
}

// Merge returns the thread that holds what either thread holds.
//
// The order is that of the insert-after tree, depth first, of siblings the
// greater id first, so that runs written side by side do not interleave. A
// revision that either side replaced is gone; an edit therefore beats a removal,
// and two edits of one message stay as two entries with the same id. A message
// that was moved, or joined to another, and that other count as one message: it
// stands in one place, where both sides moved it too, and an edit of what was
// joined elsewhere is one of two texts. Merge is commutative, associative and
// idempotent.
func Merge(a, b *Thread) *Thread {
	m := merger{nodes: map[ID]*node{}}
	m.add(a)
	m.add(b)
	for _, l := range lineages(m.nodes) {
		l.gather()
	}
	return m.thread()
}

func (m *merger) add(t *Thread) {
	for _, e := range t.Live {
		n := m.node(e.ID, e.After, e.Past)
		if old, ok := n.texts[e.Rev]; !ok || compareContent(e, old) < 0 {
			n.texts[e.Rev] = e
		}
	}
	for _, d := range t.Dead {
		m.node(d.ID, d.After, d.Past)
	}
}

// compareContent orders two entries of one revision. Moved on two sides, they differ in their
// dates and in blank lines; more than that only damage or forgery makes.
func compareContent(a, b Entry) int {
	return cmp.Or(cmp.Compare(a.JSON.ID, b.JSON.ID), cmp.Compare(a.Source.ID, b.Source.ID),
		cmp.Compare(a.Date, b.Date), cmp.Compare(a.Link, b.Link), compareLayout(a.Layout, b.Layout))
}

type node struct {
	id    ID
	after ID
	past  []Rev
	texts map[Rev]Entry
}

type merger struct{ nodes map[ID]*node }

func (m *merger) node(id, after ID, past []Rev) *node {
	n, ok := m.nodes[id]
	if !ok {
		n = &node{id: id, after: after, texts: map[Rev]Entry{}}
		m.nodes[id] = n
	}
	if compareID(after, n.after) < 0 { // differs only in a damaged repository
		n.after = after
	}
	n.past = unionRevs(n.past, past)
	return n
}

func (m *merger) thread() *Thread {
	t := &Thread{}
	for _, n := range m.order() {
		alive := false
		for _, rev := range n.revs() {
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

func (n *node) revs() []Rev {
	revs := make([]Rev, 0, len(n.texts))
	for rev := range n.texts {
		revs = append(revs, rev)
	}
	slices.SortFunc(revs, compareRev)
	return revs
}

// order walks the insert-after tree. A node whose predecessor is unknown stands
// at the beginning, and one on a cycle breaks it there, smallest id first: both
// exist only in a damaged repository, where nothing may get lost either.
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
		slices.SortFunc(siblings, func(x, y *node) int { return compareID(x.id, y.id) }) // the stack reverses
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
		ids := make([]ID, 0, len(m.nodes)-len(ordered))
		for id := range m.nodes {
			if !seen[id] {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, compareID)
		for _, id := range ids {
			walk([]*node{m.nodes[id]})
		}
	}
	return ordered
}
