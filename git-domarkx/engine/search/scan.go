package search

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A found is a message whose text matches a query.
type found struct {
	message int64
	snippet string
	matches [][2]int
}

// fewBlocks is the number of blocks up to which reading all takes less time than determining which are the newest.
const fewBlocks = 50

// scan finds messages by reading the texts that may match, for a fixed string or a regular expression.
func (x *Index) scan(ctx context.Context, q Query, m *matching, allowed set, p *places) ([]Hit, error) {
	firsts, err := x.db.mayMatch(m)
	if err != nil {
		return nil, err
	}
	var all []found
	if q.Limit > 0 && !q.History && len(firsts) > fewBlocks {
		all, err = x.scanNewest(ctx, firsts, m, allowed, p)
	} else {
		all, err = x.scanBlocks(ctx, firsts, m, allowed, q.Limit == 0)
	}
	if err == nil && len(all) > 0 {
		err = p.prepare(len(all), func(i int) int64 { return all[i].message })
	}
	if err != nil {
		return nil, err
	}
	var hits []Hit
	for _, f := range all {
		some, err := p.of(f.message)
		if err != nil {
			return nil, err
		}
		for i := range some {
			some[i].Snippet, some[i].Matches = f.snippet, f.matches
		}
		hits = append(hits, some...)
	}
	slices.SortFunc(hits, func(a, b Hit) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Session, b.Session), cmp.Compare(b.K, a.K))
	})
	if q.Limit > 0 && len(hits) > q.Limit {
		hits = hits[:q.Limit]
	}
	return hits, x.describe(ctx, hits, m)
}

// scanBlocks returns the messages in some blocks whose texts match. If snippets is set, they have their snippets,
// because all of them are wanted.
func (x *Index) scanBlocks(ctx context.Context, firsts []int64, m *matching, allowed set, snippets bool) (all []found, err error) {
	var lock sync.Mutex
	s := newScan(ctx, m, allowed.has, snippets, func(some []found) {
		lock.Lock()
		defer lock.Unlock()
		all = append(all, some...)
	})
	for _, first := range firsts {
		if err = s.block(x.db, first); err != nil {
			break
		}
	}
	return all, cmp.Or(s.end(), err)
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

// A scan searches blocks in parallel, on all processors.
type scan struct {
	ctx      context.Context
	m        *matching
	wanted   func(message int64) bool
	snippets bool
	found    func([]found) // is called from several goroutines, with the messages that match in one block

	jobs    chan []byte
	used    chan []byte // memory of blocks that were searched, for reuse
	running sync.WaitGroup
	lock    sync.Mutex
	err     error
}

// newScan starts the goroutines of a scan. The caller calls end.
func newScan(ctx context.Context, m *matching, wanted func(message int64) bool, snippets bool, found func([]found)) *scan {
	workers := runtime.GOMAXPROCS(0)
	s := &scan{ctx: ctx, m: m, wanted: wanted, snippets: snippets, found: found, jobs: make(chan []byte, 4*workers), used: make(chan []byte, 6*workers)}
	for range workers {
		s.running.Go(func() {
			if err := s.work(); err != nil {
				s.lock.Lock()
				defer s.lock.Unlock()
				s.err = err
			}
		})
	}
	return s
}

// block reads a block from the index and passes it to the goroutines.
func (s *scan) block(d *database, first int64) error {
	return d.query("SELECT data FROM block WHERE first = ?", func(stmt *sqlite3.Stmt) error {
		var buffer []byte
		select {
		case buffer = <-s.used:
		default:
		}
		s.jobs <- stmt.AppendBytes(buffer[:0], 0)
		return s.ctx.Err()
	}, first)
}

// end waits until all blocks are searched, and returns the first error.
func (s *scan) end() error {
	close(s.jobs)
	s.running.Wait()
	return s.err
}

// work searches the blocks that it receives. After an error it only receives them.
func (s *scan) work() error {
	var in decompressor
	var b block
	matches, err := s.m.matcher()
	for data := range s.jobs {
		if err == nil && s.ctx.Err() == nil {
			err = in.decode(data, &b)
		}
		select {
		case s.used <- data:
		default:
		}
		if err != nil || s.ctx.Err() != nil || !s.m.mayMatch(b.texts) {
			continue
		}
		var some []found
		at := 0
		for i, id := range b.ids {
			text := b.texts[at : at+b.sizes[i]]
			at += b.sizes[i]
			if !s.wanted(id) || !matches(text) {
				continue
			}
			f := found{message: id}
			if s.snippets {
				f.snippet, f.matches = s.m.snippet(text)
			}
			some = append(some, f)
		}
		if some != nil {
			s.found(some)
		}
	}
	return err
}
