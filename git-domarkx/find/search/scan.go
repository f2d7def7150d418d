package search

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A found is a message whose text matches a query.
type found struct {
	message uint32
	text    string // packed snippet; "" if it was not made
}

// fewBlocks is the number of blocks up to which reading all takes less time than determining which are the newest.
const fewBlocks = 50

// scan finds messages by reading the texts that may match, for a fixed string or a regular expression.
func (x *Index) scan(ctx context.Context, m *matching, allowed set, p *places) (source, error) {
	firsts, err := x.db.mayMatch(m)
	if err != nil {
		return nil, err
	}
	s := &scanned{}
	if p.q.Limit > 0 && !p.q.History && len(firsts) > fewBlocks {
		s.found, err = x.scanNewest(ctx, firsts, m, allowed, p)
	} else {
		s.found, err = x.scanBlocks(ctx, firsts, m, allowed, p.q.Limit == 0)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(s.found, func(a, b found) int { return cmp.Compare(a.message, b.message) })
	if s.spots, err = p.all(s.found); err != nil {
		return nil, err
	}
	slices.SortFunc(s.spots, func(a, b spot) int {
		return cmp.Or(cmp.Compare(b.date, a.date), cmp.Compare(a.session, b.session), cmp.Compare(b.k, a.k))
	})
	return s, nil
}

// scanned is a [source] of messages whose texts were read.
type scanned struct {
	found []found // sorted by message
	spots []spot  // spots that were not returned yet
}

func (s *scanned) next(n int) ([]spot, error) {
	some := s.spots[:min(n, len(s.spots))]
	s.spots = s.spots[len(some):]
	return some, nil
}

func (s *scanned) text(message uint32) string {
	i, _ := slices.BinarySearchFunc(s.found, message, func(f found, message uint32) int { return cmp.Compare(f.message, message) })
	return s.found[i].text
}

// maxTexts is the maximum size in bytes of the snippets that are made while the texts are searched. The others are made
// later, for each batch.
const maxTexts = 16 << 20

// scanBlocks returns the messages in some blocks whose texts match. If texts is set, they have their snippets, unless
// these exceed maxTexts.
func (x *Index) scanBlocks(ctx context.Context, firsts []int64, m *matching, allowed set, texts bool) (all []found, err error) {
	var lock sync.Mutex
	size := 0
	var pack atomic.Bool
	pack.Store(texts)
	r := readBlocks(ctx, m, matchesIn(m, allowed.has, &pack, func(some []found) {
		lock.Lock()
		defer lock.Unlock()
		all = append(all, some...)
		for _, f := range some {
			size += len(f.text)
		}
		if size > maxTexts {
			pack.Store(false)
		}
	}))
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
	if filter == nil {
		err = d.query("SELECT first FROM signature ORDER BY first", func(s *sqlite3.Stmt) error {
			firsts = append(firsts, s.Int(0))
			return nil
		})
		return firsts, err
	}
	var bits signature
	err = d.query("SELECT first, bits FROM signature ORDER BY first", func(s *sqlite3.Stmt) error {
		bits = s.AppendBytes(bits[:0], 1)
		if slices.ContainsFunc(filter, bits.has) {
			firsts = append(firsts, s.Int(0))
		}
		return nil
	})
	return firsts, err
}

// matchesIn returns a function for readBlocks that calls add, from several goroutines, with the wanted messages of a block
// that match. They have snippets as long as texts is set.
func matchesIn(m *matching, wanted func(message int64) bool, texts *atomic.Bool, add func([]found)) func(*snippets, []*row) error {
	return func(in *snippets, _ []*row) error {
		b := &in.block
		if !m.mayMatch(b.texts) {
			return nil
		}
		var some []found
		at := 0
		for i, id := range b.ids {
			text := b.texts[at : at+b.sizes[i]]
			at += b.sizes[i]
			if id < 0 || id > math.MaxUint32 || !wanted(id) || !m.match(text) {
				continue
			}
			f := found{message: uint32(id)}
			if texts.Load() {
				f.text = in.pack(text)
			}
			some = append(some, f)
		}
		if some != nil {
			add(some)
		}
		return nil
	}
}
