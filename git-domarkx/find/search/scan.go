package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
)

// fewBlocks is the number of blocks up to which reading all takes less time than determining which are the newest, and
// blocksAtOnce that of the blocks that are read before the result is looked at.
const (
	fewBlocks    = 50
	blocksAtOnce = 16
)

// scan finds messages by reading the texts that may match, for a fixed string or a regular expression. With a limit, it reads the
// blocks with the newest messages first, and stops as soon as the others cannot change the result.
func (x *Index) scan(ctx context.Context, m *matching, allowed set, p *places) (spots []spot, err error) {
	firsts := x.db.mayMatch(m)
	limit := p.q.Limit
	if limit == 0 || p.q.History || len(firsts) <= fewBlocks {
		return x.scanBlocks(ctx, firsts, m, allowed, p)
	}
	for some := range slices.Chunk(p.byNewest(firsts), blocksAtOnce) {
		if err != nil || x.db.err != nil || len(spots) == limit && newestFirst(spots[limit-1], some[0].newest) < 0 {
			break
		}
		firsts = firsts[:0]
		for _, b := range some {
			firsts = append(firsts, b.first)
		}
		var more []spot
		more, err = x.scanBlocks(ctx, firsts, m, allowed, p)
		spots = append(spots, more...)
		slices.SortFunc(spots, newestFirst)
		spots = spots[:min(len(spots), limit)]
	}
	return spots, err
}

// newestFirst compares spots by date, and then by the session's name and the message's number in it.
func newestFirst(a, b spot) int {
	return cmp.Or(cmp.Compare(b.date, a.date), cmp.Compare(a.session, b.session), cmp.Compare(b.k, a.k))
}

// A datedBlock is a block, identified by its first message, with the newest place of its messages.
type datedBlock struct {
	first  int64
	newest spot
}

// byNewest returns the blocks with messages in the wanted sessions, those with the newest first, given the first messages of blocks.
func (p *places) byNewest(firsts []int64) []datedBlock {
	blocks := make([]datedBlock, len(firsts))
	p.newest(func(message int64, at spot) {
		i, exact := slices.BinarySearch(firsts, message)
		if !exact {
			i-- // the block before, or one that is left out because it cannot match
		}
		if i >= 0 && (blocks[i].first == 0 || newestFirst(at, blocks[i].newest) < 0) {
			blocks[i] = datedBlock{firsts[i], at}
		}
	})
	blocks = slices.DeleteFunc(blocks, func(b datedBlock) bool { return b.first == 0 })
	slices.SortFunc(blocks, func(a, b datedBlock) int { return newestFirst(a.newest, b.newest) })
	return blocks
}

// scanBlocks returns the places of the messages in some blocks whose texts match, the newest first.
func (x *Index) scanBlocks(ctx context.Context, firsts []int64, m *matching, allowed set, p *places) ([]spot, error) {
	var lock sync.Mutex
	var found []uint32
	r := readBlocks(ctx, m, func(_ *snippets, b *block, _ []*row) error {
		if !m.mayMatch(b.texts) {
			return nil
		}
		for id, text := range b.messages() {
			if id >= 0 && id <= math.MaxUint32 && allowed.has(id) && m.match(text) {
				lock.Lock()
				found = append(found, uint32(id))
				lock.Unlock()
			}
		}
		return nil
	})
	for _, first := range firsts {
		r.block(x.db, first, nil)
	}
	err := r.end()
	slices.Sort(found)
	spots := p.all(found)
	slices.SortFunc(spots, newestFirst)
	return spots, err
}

// mayMatch returns the first messages of the blocks with texts that may match.
func (d *database) mayMatch(m *matching) (firsts []int64) {
	filter := m.runs()
	var bits signature
	for s := range d.rows("SELECT first, bits FROM signature ORDER BY first") {
		bits = s.AppendBytes(bits[:0], 1)
		if filter == nil || slices.ContainsFunc(filter, bits.has) {
			firsts = append(firsts, s.Int(0))
		}
	}
	return firsts
}
