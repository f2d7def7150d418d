package search

import (
	"cmp"
	"context"
	"runtime"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A found is a message whose text matches.
type found struct {
	message int64
	snippet string
	matches [][2]int
}

// scan finds messages by reading all texts.
func (x *Index) scan(ctx context.Context, q Query, m *matching, allowed set, p *places) ([]Hit, error) {
	all, err := x.scanBlocks(ctx, m, allowed, q.Limit == 0)
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

// scanBlocks returns the messages whose texts match, with snippets if they are all wanted.
func (x *Index) scanBlocks(ctx context.Context, m *matching, allowed set, snippets bool) ([]found, error) {
	firsts, all, err := x.db.mayMatch(m)
	if err != nil {
		return nil, err
	}
	workers := runtime.GOMAXPROCS(0)
	jobs, used := make(chan []byte, 4*workers), make(chan []byte, 6*workers)
	var lock sync.Mutex
	var matching []found
	var failed error
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			some, err := scanEach(ctx, jobs, used, m, allowed, snippets)
			lock.Lock()
			defer lock.Unlock()
			matching = append(matching, some...)
			failed = cmp.Or(failed, err)
		})
	}
	send := func(s *sqlite3.Stmt) error {
		var buffer []byte
		select {
		case buffer = <-used:
		default:
		}
		jobs <- s.AppendBytes(buffer[:0], 0)
		return ctx.Err()
	}
	if all {
		err = x.db.query("SELECT data FROM block ORDER BY first", send)
	}
	for _, first := range firsts {
		if err == nil {
			err = x.db.query("SELECT data FROM block WHERE first = ?", send, first)
		}
	}
	close(jobs)
	running.Wait()
	return matching, cmp.Or(err, failed)
}

// mayMatch returns the blocks with texts that may match, by the first message of each, or that all of them may.
func (d *database) mayMatch(m *matching) (firsts []int64, all bool, err error) {
	filter := m.runs()
	if filter == nil {
		return nil, true, nil
	}
	var bits signature
	err = d.query("SELECT first, bits FROM signature ORDER BY first", func(s *sqlite3.Stmt) error {
		bits = s.AppendBytes(bits[:0], 1)
		if slices.ContainsFunc(filter, bits.has) {
			firsts = append(firsts, s.Int(0))
		}
		return nil
	})
	return firsts, false, err
}

// scanEach scans all blocks that it receives, and sends their memory to used. After an error it only receives them.
func scanEach(ctx context.Context, jobs <-chan []byte, used chan<- []byte, m *matching, allowed set, snippets bool) (all []found, err error) {
	var in decompressor
	var b block
	matches, err := m.matcher()
	for data := range jobs {
		if err == nil && ctx.Err() == nil {
			err = in.decode(data, &b)
		}
		select {
		case used <- data:
		default:
		}
		if err != nil || ctx.Err() != nil || !m.mayMatch(b.texts) {
			continue
		}
		at := 0
		for i, id := range b.ids {
			text := b.texts[at : at+b.sizes[i]]
			at += b.sizes[i]
			if !allowed.has(id) || !matches(text) {
				continue
			}
			f := found{message: id}
			if snippets {
				f.snippet, f.matches = m.snippet(text)
			}
			all = append(all, f)
		}
	}
	return all, err
}
