package odb

import (
	"container/list"
	"sync"
)

// maxBases limits the memory of a baseCache, in bytes.
const maxBases = 24 << 20

// A baseCache contains the most recently used bases of deltas, since the next object that is read probably has the same base.
type baseCache struct {
	mu    sync.Mutex
	at    map[basePlace]*list.Element
	order list.List // of *base, the most recently used first
	size  int       // in bytes
}

type basePlace struct {
	pack   *pack
	offset int64
}

type base struct {
	place basePlace
	t     Type
	data  []byte // must not be changed
}

// get returns a base, whose data the caller must not change.
func (c *baseCache) get(p *pack, offset int64) (Type, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.at[basePlace{p, offset}]
	if !ok {
		return 0, nil, false
	}
	c.order.MoveToFront(e)
	b := e.Value.(*base)
	return b.t, b.data, true
}

// put stores a base, whose data the caller must not change afterwards.
func (c *baseCache) put(p *pack, offset int64, t Type, data []byte) {
	if len(data) > maxBases/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	place := basePlace{p, offset}
	if c.at[place] != nil {
		return
	}
	if c.at == nil {
		c.at = map[basePlace]*list.Element{}
	}
	c.at[place] = c.order.PushFront(&base{place, t, data})
	for c.size += len(data); c.size > maxBases; {
		b := c.order.Remove(c.order.Back()).(*base)
		c.size -= len(b.data)
		delete(c.at, b.place)
	}
}

// drop forgets the bases: a pack was removed.
func (c *baseCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.size = nil, 0
	c.order.Init()
}
