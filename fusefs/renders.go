//go:build linux || darwin

package fusefs

import (
	"context"
	"sync"

	"golang.org/x/sync/singleflight"
)

const (
	maxRenders = 64 << 20 // bytes of cached documents
	maxSizes   = 1 << 17  // cached sizes
)

// A render identifies an immutable document or message in a form.
type render struct {
	id      string // of a snapshot
	message int    // -1 for the whole document
	form    Form
}

// renders caches the documents that were used last, and the sizes of many more.
// Concurrent readers of a document share one rendering.
type renders struct {
	make    func(context.Context, render) ([]byte, error)
	running singleflight.Group

	mu    sync.Mutex
	kept  [2]map[render][]byte // recent and older documents
	bytes int                  // of the recent ones
	sizes [2]map[render]int64  // recent and older ones
}

func newRenders(draw func(context.Context, render) ([]byte, error)) *renders {
	return &renders{make: draw, kept: [2]map[render][]byte{{}, {}}, sizes: [2]map[render]int64{{}, {}}}
}

// get returns the rendered document. The caller must not change it.
func (c *renders) get(ctx context.Context, r render) ([]byte, error) {
	if data, ok := c.cached(r); ok {
		return data, nil
	}
	running := c.running.DoChan(r.String(), func() (any, error) {
		// Other readers may wait for this rendering, so an interrupt of its first reader does
		// not cancel it.
		data, err := c.make(context.WithoutCancel(ctx), r)
		if err == nil {
			c.keep(r, data)
		}
		return data, err
	})
	select {
	case done := <-running:
		data, _ := done.Val.([]byte)
		return data, done.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *renders) cached(r render) ([]byte, bool) {
	c.mu.Lock()
	data, ok := c.kept[0][r]
	old, isOld := c.kept[1][r]
	c.mu.Unlock()
	if !ok && isOld {
		c.keep(r, old)
		return old, true
	}
	return data, ok
}

func (c *renders) keep(r render, data []byte) {
	c.measured(r, int64(len(data)))
	if len(data) > maxRenders/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.kept[0][r]; there {
		return
	}
	if c.bytes += len(data); c.bytes > maxRenders/2 {
		c.kept, c.bytes = [2]map[render][]byte{{}, c.kept[0]}, len(data)
	}
	c.kept[0][r] = data
}

func (c *renders) measured(r render, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.sizes[0]) >= maxSizes {
		c.sizes = [2]map[render]int64{{}, c.sizes[0]}
	}
	c.sizes[0][r] = size
}

func (c *renders) size(r render) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, ok := c.sizes[0][r]
	if !ok {
		n, ok = c.sizes[1][r]
	}
	return n, ok
}
