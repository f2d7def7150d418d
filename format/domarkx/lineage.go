package domarkx

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A message that is moved, or joined to another message, continues as a message with another id.
// That message records this in its Past, as marks among the replaced revisions: which message it
// continues, and a generation number.

// goesOnIn returns the mark in the Past of a message that continues the message with that id.
func goesOnIn(id ID) Rev { return DeriveRev([]byte("goes on in"), id[:]) }

// asInserted returns the revision that stands for a message's initial text in messages that
// continue it: the zero Rev would be ambiguous there.
func asInserted(id ID) Rev { return DeriveRev([]byte("as inserted"), id[:]) }

// named returns the revision that stands for revision rev of a message in messages that continue
// it.
func named(id ID, rev Rev) Rev {
	if rev == (Rev{}) {
		return asInserted(id)
	}
	return rev
}

// generation returns the mark of the k-th generation, counted from 1.
func generation(k int) Rev {
	return DeriveRev([]byte("generation"), binary.BigEndian.AppendUint64(nil, uint64(k)))
}

// generations returns the generation of a message with that Past, or 0 if it continues no other
// message.
func generations(past []Rev) int {
	for k := 0; ; k++ {
		if _, ok := slices.BinarySearchFunc(past, generation(k+1), compareRev); !ok {
			return k
		}
	}
}

// continued returns past with the marks of a message that continues message of, and with the
// revisions of that message that are replaced.
func continued(past []Rev, of ID, replaced []Rev) []Rev {
	more := []Rev{goesOnIn(of)}
	for _, rev := range replaced {
		more = append(more, named(of, rev))
	}
	past = unionRevs(past, more)
	return unionRevs(past, []Rev{generation(generations(past) + 1)})
}

// A lineage is a set of messages that continue each other and count as one.
type lineage struct {
	members []*node
	heir    *node // holds the texts of all members
}

// lineages returns the sets of at least two messages that continue each other.
func lineages(nodes map[ID]*node) []*lineage {
	hasPast := false
	for _, n := range nodes {
		hasPast = hasPast || len(n.past) > 0
	}
	if !hasPast {
		return nil
	}
	marks := make(map[Rev]*node, len(nodes))
	for _, n := range nodes {
		marks[goesOnIn(n.id)] = n
	}
	of := map[*node]*lineage{}
	lineageOf := func(n *node) *lineage {
		if of[n] == nil {
			of[n] = &lineage{members: []*node{n}}
		}
		return of[n]
	}
	level := map[*node]int{} // generations
	for _, n := range nodes {
		for _, rev := range n.past {
			from := marks[rev]
			if from == nil || from == n {
				continue
			}
			level[n] = generations(n.past)
			more, less := lineageOf(n), lineageOf(from)
			if more == less {
				continue
			}
			if len(more.members) < len(less.members) {
				more, less = less, more
			}
			for _, member := range less.members {
				of[member] = more
			}
			more.members = append(more.members, less.members...)
		}
	}
	var all []*lineage
	for n, l := range of {
		if n == l.members[0] {
			l.heir = slices.MaxFunc(l.members, func(a, b *node) int { return cmp.Or(level[a]-level[b], compareID(a.id, b.id)) })
			all = append(all, l)
		}
	}
	return all
}

// gather moves the texts of all members to the heir, except texts that some member has replaced.
func (l *lineage) gather() {
	var past []Rev
	for _, n := range l.members {
		for _, rev := range n.past {
			past = append(past, named(n.id, rev))
		}
	}
	slices.SortFunc(past, compareRev)
	texts := map[Rev]Entry{}
	for _, n := range l.members {
		for rev, e := range n.texts {
			rev = named(n.id, rev)
			if _, gone := slices.BinarySearchFunc(past, rev, compareRev); gone {
				continue
			}
			if old, ok := texts[rev]; !ok || compareContent(e, old) < 0 {
				texts[rev] = e
			}
		}
		n.texts = nil
	}
	own := asInserted(l.heir.id)
	l.heir.texts = make(map[Rev]Entry, len(texts))
	for rev, e := range texts {
		if rev == own {
			rev = Rev{}
		}
		e.ID, e.Rev = l.heir.id, rev
		l.heir.texts[rev] = e
	}
}
