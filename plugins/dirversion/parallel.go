package dirversion

import (
	"cmp"
	"context"

	"golang.org/x/sync/errgroup"
)

// parallel calls fn for each item from that many goroutines and returns the first error. On
// error it cancels the context passed to fn and starts no further items.
func parallel[T any](ctx context.Context, workers int, items []T, fn func(ctx context.Context, item T) error) error {
	g, inner := errgroup.WithContext(ctx)
	g.SetLimit(workers)
	for _, item := range items {
		g.Go(func() error {
			if err := context.Cause(inner); err != nil {
				return err
			}
			return fn(inner, item)
		})
	}
	return cmp.Or(g.Wait(), context.Cause(ctx))
}
