//go:build linux || darwin

package workspaces

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/domarkx/domarkx/format/domarkx"
)

const (
	maxOpen      = 64       // open contents
	maxOpenBytes = 64 << 20 // their total size
)

type opener func(ctx context.Context, id string) (domarkx.Content, error)

// contents caches open contents, of files that the kernel reads in parts.
type contents struct {
	open    opener
	opening singleflight.Group

	mu    sync.Mutex
	kept  map[string]*list.Element // of *opened, the last used first
	order *list.List
	bytes int64
}

// An opened content is closed when the cache drops it and the last reader is done.
type opened struct {
	domarkx.Content
	id    string
	size  int64 // as counted in contents.bytes
	users int   // readers, plus one while it is cached; guarded by contents.mu
}

func newContents(open opener) *contents {
	return &contents{open: open, kept: map[string]*list.Element{}, order: list.New()}
}

// read fills dst with the bytes of a content from off. It returns domarkx.ErrCorrupt if
// the content does not have size bytes.
func (c *contents) read(ctx context.Context, id string, size int64, dst []byte, off int64) (err error) {
	o := c.use(id)
	for ; o == nil; o = c.use(id) { // the cache may drop it before it is used
		if _, err, _ := c.opening.Do(id, func() (any, error) { return nil, c.add(ctx, id) }); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, c.done(o)) }()
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

// use returns the cached content with an id, or nil. The caller must call done.
func (c *contents) use(id string) *opened {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.kept[id]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	o := e.Value.(*opened)
	o.users++
	return o
}

// add opens a content, and drops the least recently used ones. Large contents are not in
// memory, so at most a quarter of the limit is counted for one.
func (c *contents) add(ctx context.Context, id string) error {
	content, err := c.open(ctx, id)
	if err != nil {
		return err
	}
	o := &opened{content, id, min(content.Size(), maxOpenBytes/4), 1}
	c.mu.Lock()
	c.kept[id] = c.order.PushFront(o)
	c.bytes += o.size
	c.mu.Unlock()
	c.shrink(maxOpen)
	return nil
}

// shrink drops contents until at most that many are cached, and no more bytes than the limit.
func (c *contents) shrink(most int) {
	c.mu.Lock()
	var gone []*opened
	for c.order.Len() > most || c.bytes > maxOpenBytes && c.order.Len() > 1 {
		o := c.order.Remove(c.order.Back()).(*opened)
		delete(c.kept, o.id)
		c.bytes -= o.size
		gone = append(gone, o)
	}
	c.mu.Unlock()
	for _, o := range gone {
		_ = c.done(o) // an error of Close does not affect what was read
	}
}

// done ends a use, and closes the content after the last one.
func (c *contents) done(o *opened) error {
	c.mu.Lock()
	o.users--
	last := o.users == 0
	c.mu.Unlock()
	if last {
		return o.Close()
	}
	return nil
}

// close drops all contents, and closes those that nobody reads.
func (c *contents) close() { c.shrink(0) }
