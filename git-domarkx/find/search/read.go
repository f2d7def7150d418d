package search

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// A reading decodes blocks in parallel, on all processors.
type reading struct {
	ctx     context.Context
	jobs    chan blockRows
	workers errgroup.Group
}

// blockRows is a stored block, and hits in it.
type blockRows struct {
	data []byte
	rows []*row
}

// readBlocks starts goroutines that call work with each block, and the hits in it. The caller calls end.
func readBlocks(ctx context.Context, m *matching, work func(s *snippets, b *block, rows []*row) error) *reading {
	workers := runtime.GOMAXPROCS(0)
	r := &reading{ctx: ctx, jobs: make(chan blockRows, 4*workers)}
	for range workers {
		r.workers.Go(func() (err error) {
			s := snippets{m: m}
			var b block
			for job := range r.jobs {
				if err != nil || ctx.Err() != nil { // the blocks are only received
					continue
				}
				if err = b.decode(job.data); err == nil {
					err = work(&s, &b, job.rows)
				}
			}
			return err
		})
	}
	return r
}

// block passes the block that contains a message, and the hits in it, to the goroutines.
func (r *reading) block(d *database, message int64, rows []*row) {
	job := blockRows{rows: rows} // without a block, its data is not valid
	for s := range d.rows("SELECT data FROM block WHERE first <= ? ORDER BY first DESC LIMIT 1", message) {
		job.data, _ = s.Column(0).([]byte)
	}
	if d.fail(r.ctx.Err()); d.err == nil {
		r.jobs <- job
	}
}

// end waits until all blocks are decoded, and returns the first error.
func (r *reading) end() error {
	close(r.jobs)
	return r.workers.Wait()
}
