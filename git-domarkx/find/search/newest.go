package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
)

// A recency is the position of a message in the order from old to new: by date, then by the session's name and the
// message's number in it. A message in several sessions has the recency of its newest place that matches the query. The
// zero value means that no place matches.
type recency struct {
	date int64
	tie  int64
}

func compareRecency(a, b recency) int {
	return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.tie, b.tie))
}

// recencies returns the recencies of all messages, by their numbers. messages is how many there are. It takes 16 bytes for
// each.
func (p *places) recencies(messages int) ([]recency, error) {
	all := make([]recency, messages)
	return all, p.newest(func(message int64, at spot) {
		if message >= int64(messages) {
			return
		}
		r := recency{at.date, int64(len(p.names)-int(at.session))<<32 | int64(at.k)} // names are in ascending order, and the first one is the newest
		if known := &all[message]; known.tie == 0 || compareRecency(r, *known) > 0 {
			*known = r
		}
	})
}

// A stretch is a stored block, identified by its first message, with the recency of its newest message.
type stretch struct {
	first  int64
	newest recency
}

// byRecency returns the blocks with wanted messages, those with the newest messages first. firsts are the first
// messages of the blocks. all are the recencies of all messages.
func byRecency(firsts []int64, all []recency) (ordered []stretch) {
	for i, first := range firsts {
		end := int64(len(all))
		if i+1 < len(firsts) {
			end = min(end, firsts[i+1])
		}
		b := stretch{first: first}
		for message := first; message < end; message++ {
			if compareRecency(all[message], b.newest) > 0 || b.newest.tie == 0 {
				b.newest = all[message]
			}
		}
		if b.newest.tie != 0 {
			ordered = append(ordered, b)
		}
	}
	slices.SortStableFunc(ordered, func(a, b stretch) int { return compareRecency(b.newest, a.newest) })
	return ordered
}

// A newestFound collects messages that were found, and keeps the newest ones, at most limit.
type newestFound struct {
	limit   int
	recency []recency // by message

	lock sync.Mutex
	kept []uint32
}

// add adds a message that was found.
func (n *newestFound) add(message uint32) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if n.kept = append(n.kept, message); len(n.kept) >= 2*n.limit {
		n.cut()
	}
}

func (n *newestFound) cut() {
	slices.SortFunc(n.kept, func(a, b uint32) int { return compareRecency(n.recency[b], n.recency[a]) })
	n.kept = n.kept[:min(len(n.kept), n.limit)]
}

// enough reports whether limit messages were found that are newer than r, so that no message as old as r is needed.
func (n *newestFound) enough(r recency) bool {
	n.lock.Lock()
	defer n.lock.Unlock()
	if len(n.kept) < n.limit {
		return false
	}
	n.cut()
	return compareRecency(n.recency[n.kept[n.limit-1]], r) > 0
}

// scanNewest returns messages in some blocks whose texts match. Among these are the messages of the newest hits, as
// many as the query allows. It reads the newest blocks first, and stops as soon as the others cannot change the result.
func (x *Index) scanNewest(ctx context.Context, firsts []int64, m *matching, allowed set, p *places) ([]uint32, error) {
	last, err := x.db.number("SELECT max(id) FROM message")
	if err != nil {
		return nil, err
	}
	if last >= math.MaxUint32 {
		return nil, fmt.Errorf("%w: message %d", errBlock, last)
	}
	all, err := p.recencies(int(last) + 1)
	if err != nil {
		return nil, err
	}
	n := &newestFound{limit: p.q.Limit, recency: all}
	wanted := func(message int64) bool {
		return message < int64(len(all)) && all[message].tie != 0 && allowed.has(message)
	}
	r := readMatches(ctx, m, wanted, n.add)
	for _, b := range byRecency(firsts, all) {
		if n.enough(b.newest) {
			break
		}
		if err = r.block(x.db, b.first, nil); err != nil {
			break
		}
	}
	err = cmp.Or(r.end(), err)
	n.cut()
	return n.kept, err
}
