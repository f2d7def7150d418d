package fusefs

import (
	"container/list"
	"context"
	"sync"
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
	make func(context.Context, render) ([]byte, error)

	mu    sync.Mutex
	kept  map[render]*list.Element // of *rendered, the last used first
	order *list.List
	bytes int                   // of all cached documents
	under map[render]*rendering // renderings that are running
	sizes [2]map[render]int64   // recent and older ones
}

type rendered struct {
	render
	data []byte
}

type rendering struct {
	done chan struct{}
	data []byte
	err  error
}

func newRenders(draw func(context.Context, render) ([]byte, error)) *renders {
	return &renders{make: draw, kept: map[render]*list.Element{}, order: list.New(), under: map[render]*rendering{}, sizes: [2]map[render]int64{{}, {}}}
}

// get returns the rendered document. The caller must not change it.
func (c *renders) get(ctx context.Context, r render) ([]byte, error) {
	c.mu.Lock()
	if e := c.kept[r]; e != nil {
		c.order.MoveToFront(e)
		data := e.Value.(*rendered).data
		c.mu.Unlock()
		return data, nil
	}
	if u := c.under[r]; u != nil {
		c.mu.Unlock()
		select {
		case <-u.done:
			return u.data, u.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	u := &rendering{done: make(chan struct{})}
	c.under[r] = u
	c.mu.Unlock()

	// Other readers may wait for this rendering, so an interrupt of its first reader does
	// not cancel it.
	u.data, u.err = c.make(context.WithoutCancel(ctx), r)
	c.mu.Lock()
	delete(c.under, r)
	if u.err == nil {
		c.keep(r, u.data)
	}
	c.mu.Unlock()
	close(u.done)
	return u.data, u.err
}

func (c *renders) measured(r render, size int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remember(r, size)
}

func (c *renders) remember(r render, size int64) {
	if len(c.sizes[0]) >= maxSizes {
		c.sizes[0], c.sizes[1] = map[render]int64{}, c.sizes[0]
	}
	c.sizes[0][r] = size
}

func (c *renders) keep(r render, data []byte) {
	c.remember(r, int64(len(data)))
	if len(data) > maxRenders/2 {
		return
	}
	c.kept[r] = c.order.PushFront(&rendered{r, data})
	for c.bytes += len(data); c.bytes > maxRenders; {
		last := c.order.Remove(c.order.Back()).(*rendered)
		delete(c.kept, last.render)
		c.bytes -= len(last.data)
	}
}

func (c *renders) size(r render) (int64, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.sizes[0][r]; ok {
		return n, true
	}
	n, ok := c.sizes[1][r]
	return n, ok
}
