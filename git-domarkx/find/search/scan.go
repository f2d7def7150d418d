package search

import (
	"cmp"
	"context"
	"math"
	"runtime"
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
	var s *scan
	s = newScan(ctx, m, allowed.has, texts, func(some []found) {
		lock.Lock()
		defer lock.Unlock()
		all = append(all, some...)
		for _, f := range some {
			size += len(f.text)
		}
		if size > maxTexts {
			s.texts.Store(false)
		}
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
	ctx    context.Context
	m      *matching
	wanted func(message int64) bool
	texts  atomic.Bool   // whether to make snippets
	found  func([]found) // is called from several goroutines, with the messages that match in one block

	jobs    chan []byte
	used    chan []byte // memory of blocks that were searched, for reuse
	running sync.WaitGroup
	lock    sync.Mutex
	err     error
}

// newScan starts the goroutines of a scan. The caller calls end.
func newScan(ctx context.Context, m *matching, wanted func(message int64) bool, texts bool, found func([]found)) *scan {
	workers := runtime.GOMAXPROCS(0)
	s := &scan{ctx: ctx, m: m, wanted: wanted, found: found, jobs: make(chan []byte, 4*workers), used: make(chan []byte, 6*workers)}
	s.texts.Store(texts)
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
	in := snippets{m: s.m}
	b := &in.block
	var err error
	for data := range s.jobs {
		if err == nil && s.ctx.Err() == nil {
			err = in.blocks.decode(data, b)
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
			if id < 0 || id > math.MaxUint32 || !s.wanted(id) || !s.m.match(text) {
				continue
			}
			f := found{message: uint32(id)}
			if s.texts.Load() {
				f.text = in.pack(text)
			}
			some = append(some, f)
		}
		if some != nil {
			s.found(some)
		}
	}
	return err
}
