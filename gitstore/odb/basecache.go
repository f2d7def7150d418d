package odb

import (
	"maps"
	"sync"
)

// maxBases limits the memory of a baseCache, in bytes.
const maxBases = 24 << 20

// A baseCache contains recently used bases of deltas, since the next object that is read probably has the same base.
type baseCache struct {
	mu         sync.Mutex
	young, old map[basePlace]base // when young has half of maxBases, it replaces old
	size       int                // bytes in young
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
	place := basePlace{p, offset}
	b, ok := c.young[place]
	if !ok {
		if b, ok = c.old[place]; ok {
			c.add(place, b)
		}
	}
	return b.t, b.data, ok
}

// put stores a base, whose data the caller must not change afterwards.
func (c *baseCache) put(p *pack, offset int64, t Type, data []byte) {
	if len(data) > maxBases/4 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(basePlace{p, offset}, base{t, data})
}

func (c *baseCache) add(place basePlace, b base) {
	if c.young == nil || c.size+len(b.data) > maxBases/2 {
		c.young, c.old, c.size = map[basePlace]base{}, c.young, 0
	}
	c.young[place] = b
	c.size += len(b.data)
}

func (c *baseCache) drop(p *pack) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, bases := range []map[basePlace]base{c.young, c.old} {
		maps.DeleteFunc(bases, func(place basePlace, _ base) bool { return place.pack == p })
	}
}
