package fusefs

import (
	"context"
	"sync"
)

// recent caches the last values of a function of immutable data.
type recent[V any] struct {
	make func(ctx context.Context, key string) (V, error)
	max  int

	mu   sync.Mutex
	keys []string // the last used last
	kept map[string]V
}

func newRecent[V any](max int, fetch func(ctx context.Context, key string) (V, error)) *recent[V] {
	return &recent[V]{make: fetch, max: max, kept: make(map[string]V)}
}

func (r *recent[V]) get(ctx context.Context, key string) (V, error) {
	r.mu.Lock()
	v, ok := r.kept[key]
	if ok {
		r.use(key)
	}
	r.mu.Unlock()
	if ok {
		return v, nil
	}
	v, err := r.make(ctx, key)
	if err != nil {
		return v, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept[key] = v; len(r.kept) > r.max {
		delete(r.kept, r.keys[0])
		r.keys = r.keys[1:]
	}
	r.use(key)
	return v, nil
}

// use moves a key to the end.
func (r *recent[V]) use(key string) {
	for i, k := range r.keys {
		if k == key {
			r.keys = append(r.keys[:i], r.keys[i+1:]...)
			break
		}
	}
	r.keys = append(r.keys, key)
}
