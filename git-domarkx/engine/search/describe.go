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

// describe adds role, model and snippet to hits.
func (x *Index) describe(ctx context.Context, hits []Hit, m *matching) error {
	order := make([]*Hit, len(hits)) // by message, so that each block is decoded once
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

// blockHits is a stored block and hits in it.
type blockHits struct {
	data []byte
	hits []*Hit
}

// blocksOf sends the blocks of hits that need snippets, and adds roles and models. Hits are ordered by message.
func (x *Index) blocksOf(ctx context.Context, hits []*Hit, jobs chan<- blockHits) error {
	var job blockHits
	end := int64(-1) // the first message after the block
	for i, h := range hits {
		if i > 0 && hits[i-1].message == h.message {
			h.Role, h.Model = hits[i-1].Role, hits[i-1].Model
		} else if err := x.attributes(h); err != nil {
			return err
		}
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

// attributes adds role and model to a hit.
func (x *Index) attributes(h *Hit) error {
	return x.db.query("SELECT role, facet.name FROM message LEFT JOIN facet ON facet.id = model WHERE message.id = ?", func(s *sqlite3.Stmt) error {
		h.Role = roleOf(s.Int(0))
		h.Model, _ = s.Column(1).(string)
		return nil
	}, h.message)
}

// snippets adds the snippets to hits in a block.
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
