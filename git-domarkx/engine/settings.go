package engine

import "context"

// Settings are the settings of this clone, which no document and no remote
// changes. The values of a key are a set.
type Settings interface {
	All(ctx context.Context, key string) ([]string, error)
	Add(ctx context.Context, key, value string) error
	// Remove removes a value; it is no error when it is not there.
	Remove(ctx context.Context, key, value string) error
}
