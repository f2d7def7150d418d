//go:build linux || darwin

package versions

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/hanwen/go-fuse/v2/fuse"

	"github.com/domarkx/domarkx"
)

const (
	maxOpen      = 64       // contents that are kept open
	maxOpenBytes = 64 << 20 // of them together
)

type opener func(ctx context.Context, id string) (domarkx.Content, error)

// An inMemory is a content that is in memory as a whole, once it is read, where the
// kernel can be answered from. Nobody changes it.
type inMemory interface{ Bytes() ([]byte, error) }

// contents keeps those contents open that are read in parts.
type contents struct {
	open  opener
	spare sync.Pool // memory for blocks

	mu    sync.Mutex
	kept  map[string]*list.Element // of *opened, the last used first
	order *list.List
	bytes int64
}

// An opened is a content that was opened. It is closed when it is not kept and
// nobody reads it.
type opened struct {
	id      string
	size    int64 // that it counts as
	users   int   // and one while it is kept; guarded by contents.mu
	opening sync.Once
	domarkx.Content
	err error
}

func newContents(open opener) *contents {
	return &contents{open: open, kept: map[string]*list.Element{}, order: list.New()}
}

// read fills dst with what a content, of which that size was told, has from an offset
// on.
func (c *contents) read(ctx context.Context, id string, size int64, dst []byte, off int64) error {
	r, err := c.reply(ctx, id, size, dst, off)
	if err != nil {
		return err
	}
	defer r.Done()
	data, _ := r.Bytes(dst)
	copy(dst, data)
	return nil
}

// reply is read, for the kernel: dst is only used when there is no better place.
func (c *contents) reply(ctx context.Context, id string, size int64, dst []byte, off int64) (r fuse.ReadResult, err error) {
	o := c.opened(ctx, id)
	defer func() { err = errors.Join(err, c.done(o)) }()
	if o.err != nil {
		return nil, o.err
	}
	if o.Size() != size {
		return nil, otherSize(o.Size(), size)
	}
	switch content := o.Content.(type) {
	case *blocks:
		return content.lend(off, len(dst))
	case inMemory:
		data, err := content.Bytes()
		if err == nil && int64(len(dst)) > int64(len(data))-off {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, err
		}
		return fuse.ReadResultData(data[off:][:len(dst)]), nil
	}
	n, err := o.ReadAt(dst, off)
	return fuse.ReadResultData(dst), full(n, len(dst), err)
}

// prepare reads a content, or its beginning, before it is wanted. Who wants it is told
// what is wrong.
func (c *contents) prepare(ctx context.Context, id string) {
	o := c.opened(ctx, id)
	if o.err == nil {
		switch content := o.Content.(type) {
		case *blocks:
			content.prepare()
		case inMemory:
			_, _ = content.Bytes()
		}
	}
	_ = c.done(o)
}

// opened returns an open content, or one with an error; done has to follow.
func (c *contents) opened(ctx context.Context, id string) *opened {
	o := c.use(id)
	o.opening.Do(func() {
		if o.Content, o.err = c.open(ctx, id); o.err == nil {
			if _, ok := o.Content.(inMemory); !ok && o.Size() >= largeFrom {
				o.Content = newBlocks(o.Content, &c.spare)
			}
			c.count(o)
		}
	})
	if o.err != nil {
		c.drop(o)
	}
	return o
}

// readWhole fills dst with a content, of which that size was told, and perhaps writes
// behind it.
func readWhole(ctx context.Context, open opener, id string, dst []byte) (err error) {
	content, err := open(ctx, id)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if content.Size() != int64(len(dst)) {
		return otherSize(content.Size(), int64(len(dst)))
	}
	n, err := content.ReadAt(dst[:cap(dst)], 0) // with room behind it, to unpack is faster
	return full(n, len(dst), err)
}

func otherSize(is, told int64) error {
	return fmt.Errorf("content: %w: it has %d bytes, expected %d", domarkx.ErrCorrupt, is, told)
}

// use returns what an id stands for; done has to follow.
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

// count takes the size of a content into account. A very large one is read in
// pieces: it counts as what memory that may take.
func (c *contents) count(o *opened) {
	c.mu.Lock()
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
		c.done(o) // what could not be closed was read
	}
}

// remove keeps a content no longer. c.mu is held; done has to follow.
func (c *contents) remove(o *opened) {
	c.order.Remove(c.kept[o.id])
	delete(c.kept, o.id)
	c.bytes -= o.size
}

// drop forgets a content that could not be opened.
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

// done ends a use, and closes what nobody uses.
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

// close keeps nothing open that nobody reads.
func (c *contents) close() {
	c.mu.Lock()
	var gone []*opened
	for e := c.order.Front(); e != nil; e = c.order.Front() {
		gone = append(gone, e.Value.(*opened))
		c.remove(e.Value.(*opened))
	}
	c.mu.Unlock()
	for _, o := range gone {
		c.done(o)
	}
}

// full turns the end of a content right behind what was read into none. One before
// it is an error: the size was told.
func full(n int, want int, err error) error {
	switch {
	case n == want:
		return nil
	case err == nil || errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return err
}
