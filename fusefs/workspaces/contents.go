//go:build linux || darwin

package workspaces

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

const (
	maxOpen      = 64       // open contents
	maxOpenBytes = 64 << 20 // their total size
)

type opener func(ctx context.Context, id string) (domarkx.Content, error)

// contents caches open contents, of files that the kernel reads in parts.
type contents struct {
	open opener

	mu    sync.Mutex
	kept  map[string]*list.Element // of *opened, the last used first
	order *list.List
	bytes int64
}

// An opened content is closed when the cache drops it and the last reader is done.
type opened struct {
	id      string
	size    int64 // as counted in contents.bytes
	users   int   // readers, plus one while it is cached; guarded by contents.mu
	opening sync.Once
	domarkx.Content
	err error
}

func newContents(open opener) *contents {
	return &contents{open: open, kept: map[string]*list.Element{}, order: list.New()}
}

// read fills dst with the bytes of a content from off. It returns domarkx.ErrCorrupt if
// the content does not have size bytes.
func (c *contents) read(ctx context.Context, id string, size int64, dst []byte, off int64) (err error) {
	o := c.opened(ctx, id)
	defer func() { err = errors.Join(err, c.done(o)) }()
	if o.err != nil {
		return o.err
	}
	if o.Size() != size {
		return fmt.Errorf("content: %w: it has %d bytes, expected %d", domarkx.ErrCorrupt, o.Size(), size)
	}
	n, err := o.ReadAt(dst, off)
	if n == len(dst) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// opened returns the open content with an id; its field err is set if that cannot be
// opened. The caller must call done.
func (c *contents) opened(ctx context.Context, id string) *opened {
	o := c.use(id)
	o.opening.Do(func() {
		if o.Content, o.err = c.open(ctx, id); o.err == nil {
			c.count(o)
		}
	})
	if o.err != nil {
		c.drop(o)
	}
	return o
}

// use returns the cache entry with an id, a new one if there is none. The caller must
// call done.
func (c *contents) use(id string) *opened {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.kept[id]; e != nil {
		c.order.MoveToFront(e)
		o := e.Value.(*opened)
		o.users++
		return o
	}
	o := &opened{id: id, users: 2}
	c.kept[id] = c.order.PushFront(o)
	return o
}

// count adds a content that was just opened to the total, and drops the least recently
// used contents. Large contents are not in memory, so at most a quarter of the limit is
// counted for one.
func (c *contents) count(o *opened) {
	c.mu.Lock()
	if e := c.kept[o.id]; e == nil || e.Value.(*opened) != o {
		c.mu.Unlock()
		return // dropped while it was being opened
	}
	o.size = min(o.Size(), maxOpenBytes/4)
	c.bytes += o.size
	var gone []*opened
	for c.order.Len() > maxOpen || c.bytes > maxOpenBytes && c.order.Len() > 1 {
		last := c.order.Back().Value.(*opened)
		if last == o {
			break
		}
		gone = append(gone, last)
		c.remove(last)
	}
	c.mu.Unlock()
	for _, o := range gone {
		_ = c.done(o) // an error of Close does not affect what was read
	}
}

// remove removes a content from the cache. c.mu must be held; the caller must call done.
func (c *contents) remove(o *opened) {
	c.order.Remove(c.kept[o.id])
	delete(c.kept, o.id)
	c.bytes -= o.size
}

// drop removes a content that could not be opened from the cache.
func (c *contents) drop(o *opened) {
	c.mu.Lock()
	e := c.kept[o.id]
	is := e != nil && e.Value.(*opened) == o
	if is {
		c.remove(o)
		o.users--
	}
	c.mu.Unlock()
}

// done ends a use, and closes the content after the last one.
func (c *contents) done(o *opened) error {
	c.mu.Lock()
	o.users--
	last := o.users == 0
	c.mu.Unlock()
	if last && o.Content != nil {
		return o.Close()
	}
	return nil
}

// close drops all contents, and closes those that nobody reads.
func (c *contents) close() {
	c.mu.Lock()
	var gone []*opened
	for e := c.order.Front(); e != nil; e = c.order.Front() {
		gone = append(gone, e.Value.(*opened))
		c.remove(e.Value.(*opened))
	}
	c.mu.Unlock()
	for _, o := range gone {
		_ = c.done(o)
	}
}
