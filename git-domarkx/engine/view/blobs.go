package view

import (
	"context"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/original"
)

// Blobs reads stored contents, from the store or within a change of it.
type Blobs interface {
	Read(ctx context.Context, b domarkx.Blob) ([]byte, error)
	Includes(ctx context.Context, tree string) ([]domarkx.Include, error)
	Origin(ctx context.Context, tree string) (*original.Document, error)
}
