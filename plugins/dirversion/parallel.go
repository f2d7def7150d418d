package dirversion

import (
	"context"
	"sync"
)

// parallel calls fn for each item from that many goroutines and returns the first error. On
// error it cancels the context passed to fn and starts no further items.
func parallel[T any](ctx context.Context, workers int, items []T, fn func(ctx context.Context, item T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan T)
	var working sync.WaitGroup
	for range min(workers, len(items)) {
		working.Go(func() {
			for item := range next {
				if err := fn(ctx, item); err != nil {
					cancel(err)
				}
			}
		})
	}
feed:
	for _, item := range items {
		select {
		case next <- item:
		case <-ctx.Done():
			break feed
		}
	}
	close(next)
	working.Wait()
	return context.Cause(ctx)
}
