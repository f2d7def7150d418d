package snapshot

import (
	"context"

	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/version"
)

// A Builder writes snapshots and workspace versions in an update ([gitstore.Store.Update]). It is for one goroutine.
type Builder struct {
	Reader
	out    *object.Writer
	passed map[string]bool // conversation trees whose messages the update cannot read
}

// NewBuilder returns a builder that writes to batch. It reads the objects of r, and some of those in the batch.
func NewBuilder(r Reader, batch *odb.Batch) Builder {
	out := object.NewWriter(r.objects, batch)
	r.objects, r.links, r.files = out.Reader, nil, nil
	return Builder{Reader: r, out: out, passed: map[string]bool{}}
}

// EmptyVersion stores a version of a resource that has no files. See [version.Empty].
func (b *Builder) EmptyVersion() (string, error) { return version.Empty(b.out) }

// RewriteFiles stores a version of a resource with other contents of files. See [version.Rewrite].
func (b *Builder) RewriteFiles(ctx context.Context, id string, done map[string]string, edit version.FileEdit) (string, error) {
	return version.Rewrite(ctx, b.out, id, done, edit)
}
