package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// fewBlocks is the number of blocks up to which reading all takes less time than determining which are the newest.
const fewBlocks = 50

// scan finds messages by reading the texts that may match, for a fixed string or a regular expression.
func (x *Index) scan(ctx context.Context, m *matching, allowed set, p *places) ([]spot, error) {
	firsts, err := x.db.mayMatch(m)
	if err != nil {
		return nil, err
	}
	var found []uint32
	if p.q.Limit > 0 && !p.q.History && len(firsts) > fewBlocks {
		found, err = x.scanNewest(ctx, firsts, m, allowed, p)
	} else {
		found, err = x.scanBlocks(ctx, firsts, m, allowed)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(found)
	spots, err := p.all(found)
	slices.SortFunc(spots, func(a, b spot) int {
		return cmp.Or(cmp.Compare(b.date, a.date), cmp.Compare(a.session, b.session), cmp.Compare(b.k, a.k))
	})
	return spots, err
}

// scanBlocks returns the messages in some blocks whose texts match.
func (x *Index) scanBlocks(ctx context.Context, firsts []int64, m *matching, allowed set) (all []uint32, err error) {
	var lock sync.Mutex
	r := readMatches(ctx, m, allowed.has, func(message uint32) {
		lock.Lock()
		defer lock.Unlock()
		all = append(all, message)
	})
	for _, first := range firsts {
		if err = r.block(x.db, first, nil); err != nil {
			break
		}
	}
	return all, cmp.Or(r.end(), err)
}

// mayMatch returns the first messages of the blocks with texts that may match.
func (d *database) mayMatch(m *matching) (firsts []int64, err error) {
	filter := m.runs()
	var bits signature
	err = d.query("SELECT first, bits FROM signature ORDER BY first", func(s *sqlite3.Stmt) error {
		bits = s.AppendBytes(bits[:0], 1)
		if filter == nil || slices.ContainsFunc(filter, bits.has) {
			firsts = append(firsts, s.Int(0))
		}
		return nil
	})
	return firsts, err
}

// readMatches starts goroutines that call add with the wanted messages, of the blocks that are read, that match.
func readMatches(ctx context.Context, m *matching, wanted func(message int64) bool, add func(uint32)) *reading {
	return readBlocks(ctx, m, func(_ *snippets, b *block, _ []*row) error {
		if !m.mayMatch(b.texts) {
			return nil
		}
		for id, text := range b.messages() {
			if id >= 0 && id <= math.MaxUint32 && wanted(id) && m.match(text) {
				add(uint32(id))
			}
		}
		return nil
	})
}
