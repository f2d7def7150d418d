package search

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// describe sets role, model and snippet of hits.
func (x *Index) describe(ctx context.Context, hits []Hit, m *matching) error {
	order := make([]*Hit, len(hits)) // sorted by message, so that each block is decoded once
	for i := range order {
		order[i] = &hits[i]
	}
	slices.SortFunc(order, func(a, b *Hit) int { return cmp.Compare(a.message, b.message) })
	jobs := make(chan blockHits, 4*runtime.GOMAXPROCS(0))
	failed := make(chan error, 1)
	var running sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			var in decompressor
			for job := range jobs {
				if err := in.snippets(job, m); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	err := x.blocksOf(ctx, order, jobs)
	close(jobs)
	running.Wait()
	close(failed)
	return cmp.Or(err, <-failed)
}

// blockHits is a stored block, and the hits in it.
type blockHits struct {
	data []byte
	hits []*Hit
}

// blocksOf sends the blocks with hits that need snippets, and sets roles and models of the hits. hits must be sorted by
// message.
func (x *Index) blocksOf(ctx context.Context, hits []*Hit, jobs chan<- blockHits) error {
	if err := x.attributes(hits); err != nil {
		return err
	}
	var job blockHits
	end := int64(-1) // first message after the block
	for _, h := range hits {
		if h.Snippet != "" {
			continue
		}
		if h.message >= end {
			if job.hits != nil {
				jobs <- job
			}
			job = blockHits{}
			err := x.db.query("SELECT data FROM block WHERE first <= ? ORDER BY first DESC LIMIT 1", func(s *sqlite3.Stmt) error {
				job.data = s.AppendBytes(nil, 0)
				return ctx.Err()
			}, h.message)
			if err != nil {
				return err
			}
			if end, err = x.db.number("SELECT coalesce(min(first), 1 << 62) FROM signature WHERE first > ?", h.message); err != nil {
				return err
			}
		}
		job.hits = append(job.hits, h)
	}
	if job.hits != nil {
		jobs <- job
	}
	return nil
}

// attributes sets role and model of hits, which must be sorted by message.
func (x *Index) attributes(hits []*Hit) error {
	models := map[int64]string{}
	err := x.db.query("SELECT id, name FROM facet WHERE kind = ?", func(s *sqlite3.Stmt) error {
		models[s.Int(0)], _ = s.Column(1).(string)
		return nil
	}, modelFacet)
	for len(hits) > 0 && err == nil {
		// The messages of many hits have numbers close to each other. So one query reads all of them up to the next
		// gap.
		last := 1
		for last < len(hits) && hits[last].message-hits[last-1].message < nearMessages {
			last++
		}
		some := hits[:last]
		hits = hits[last:]
		err = x.db.query("SELECT id, role, model FROM message WHERE id BETWEEN ? AND ?", func(s *sqlite3.Stmt) error {
			id, role, model := s.Int(0), roleOf(s.Int(1)), models[s.Int(2)]
			for len(some) > 0 && some[0].message <= id {
				if some[0].message == id {
					some[0].Role, some[0].Model = role, model
				}
				some = some[1:]
			}
			return nil
		}, some[0].message, some[last-1].message)
	}
	return err
}

// nearMessages is the number of messages that are read in less time than one message is found.
const nearMessages = 4

// snippets sets the snippets of the hits in a block.
func (d *decompressor) snippets(job blockHits, m *matching) error {
	var b block
	if err := d.decode(job.data, &b); err != nil {
		return err
	}
	for i, h := range job.hits {
		if i > 0 && job.hits[i-1].message == h.message {
			h.Snippet, h.Matches = job.hits[i-1].Snippet, job.hits[i-1].Matches
			continue
		}
		text, ok := b.text(h.message)
		if !ok {
			return fmt.Errorf("%w: message %d is missing", errBlock, h.message)
		}
		h.Snippet, h.Matches = m.snippet(text)
	}
	return nil
}
