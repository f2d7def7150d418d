package search

import (
	"context"
	"runtime"
	"sync"

	"github.com/domarkx/domarkx/plugins/sqlite/sqlite3"
)

// A reading decodes blocks in parallel, on all processors.
type reading struct {
	ctx     context.Context
	jobs    chan blockRows
	used    chan []byte // memory of blocks that were decoded, for reuse
	running sync.WaitGroup
	lock    sync.Mutex
	err     error
}

// blockRows is a stored block, and hits in it.
type blockRows struct {
	data []byte
	rows []*row
}

// readBlocks starts goroutines that call work with each block, which is in.block, and the hits in it. The caller calls end.
func readBlocks(ctx context.Context, m *matching, work func(in *snippets, rows []*row) error) *reading {
	workers := runtime.GOMAXPROCS(0)
	r := &reading{ctx: ctx, jobs: make(chan blockRows, 4*workers), used: make(chan []byte, 6*workers)}
	for range workers {
		r.running.Go(func() {
			in := snippets{m: m}
			var err error
			for job := range r.jobs {
				if err == nil && ctx.Err() == nil { // otherwise the blocks are only received
					if err = in.blocks.decode(job.data, &in.block); err == nil {
						err = work(&in, job.rows)
					}
				}
				select {
				case r.used <- job.data:
				default:
				}
			}
			if err != nil {
				r.lock.Lock()
				defer r.lock.Unlock()
				r.err = err
			}
		})
	}
	return r
}

// block reads the block with a first message, and passes it with the hits in it to the goroutines.
func (r *reading) block(d *database, first int64, rows []*row) error {
	job := blockRows{rows: rows}
	select {
	case job.data = <-r.used:
	default:
	}
	job.data = job.data[:0] // which is an error if there is no such block
	err := d.query("SELECT data FROM block WHERE first = ?", func(s *sqlite3.Stmt) error {
		job.data = s.AppendBytes(job.data, 0)
		return r.ctx.Err()
	}, first)
	if err == nil {
		r.jobs <- job
	}
	return err
}

// end waits until all blocks are decoded, and returns the first error.
func (r *reading) end() error {
	close(r.jobs)
	r.running.Wait()
	return r.err
}
