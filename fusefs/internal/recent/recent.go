// Package recent keeps the values that were used last.
package recent

import (
	"context"
	"sync"
)

// A Cache keeps values in two generations. When the younger one is half full, it replaces the older one.
type Cache[K comparable, V any] struct {
	Most int         // the total cost of the values
	Cost func(V) int // nil if each costs 1

	mu         sync.Mutex
	young, old map[K]V
	cost       int                     // of young
	loading    map[K]func() (V, error) // waits for a running load
}

// Load returns the value of a key, which read reads if the cache does not have it. Those who ask for it meanwhile wait for
// the same reading, so the end of ctx does not end it.
func (c *Cache[K, V]) Load(ctx context.Context, key K, read func(context.Context) (V, error)) (V, error) {
	if v, ok := c.Get(key); ok {
		return v, nil
	}
	c.mu.Lock()
	load := c.loading[key]
	if load == nil {
		load = sync.OnceValues(func() (V, error) {
			v, err := read(context.WithoutCancel(ctx))
			if err == nil {
				c.Put(key, v)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.loading, key)
			return v, err
		})
		if c.loading == nil {
			c.loading = map[K]func() (V, error){}
		}
		c.loading[key] = load
	}
	c.mu.Unlock()
	return load()
}

// Get returns the value of a key, and whether the cache has it.
func (c *Cache[K, V]) Get(key K) (V, bool) {
	c.mu.Lock()
	v, ok := c.young[key]
	old, isOld := c.old[key]
	c.mu.Unlock()
	if !ok && isOld {
		c.Put(key, old)
		return old, true
	}
	return v, ok
}

// Put keeps a value, unless it costs more than half of the limit.
func (c *Cache[K, V]) Put(key K, v V) {
	cost := 1
	if c.Cost != nil {
		cost = c.Cost(v)
	}
	if cost > c.Most/2 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.young[key]; !there { // values of a key cost the same
		c.cost += cost
	}
	if c.young == nil || c.cost > c.Most/2 {
		c.young, c.old, c.cost = map[K]V{}, c.young, cost
	}
	c.young[key] = v
}
