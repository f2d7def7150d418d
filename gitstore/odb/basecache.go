package odb

import "sync"

// maxBases limits the memory of a baseCache, in bytes.
const maxBases = 24 << 20

// A baseCache contains recently used bases of deltas, since the next object that is read probably has the same base. When it is
// full, it starts anew.
type baseCache struct {
	mu   sync.Mutex
	at   map[basePlace]base
	size int
}

type basePlace struct {
	pack   *pack
	offset int64
}

type base struct {
	t    Type
	data []byte // must not be changed
}

// get returns a base, whose data the caller must not change.
func (c *baseCache) get(p *pack, offset int64) (Type, []byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b, ok := c.at[basePlace{p, offset}]
	return b.t, b.data, ok
}

// put stores a base, whose data the caller must not change afterwards.
func (c *baseCache) put(p *pack, offset int64, t Type, data []byte) {
	if len(data) > maxBases/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(data); c.at == nil || c.size > maxBases {
		c.at, c.size = map[basePlace]base{}, len(data)
	}
	c.at[basePlace{p, offset}] = base{t, data}
}

// drop forgets the bases: a pack was removed.
func (c *baseCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = nil
}
