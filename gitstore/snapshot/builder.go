package snapshot

import (
	"github.com/domarkx/domarkx/gitstore/object"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// A Builder writes the snapshots and versions of a running update.
type Builder struct {
	Reader
	out    *object.Writer
	passed map[string]bool // trees of conversations whose messages cannot be read within the update
	answer func(id string, data []byte)
}

// OnAnswer makes the builder call a function with the id and the JSON of each message of an assistant
// that it stores.
func (b *Builder) OnAnswer(f func(id string, data []byte)) { b.answer = f }

// NewBuilder returns a builder that reads with r and what it has written to batch.
func NewBuilder(r Reader, batch *odb.Batch) Builder {
	out := object.NewWriter(r.objects, batch)
	r.objects, r.links, r.files = out.Reader, nil, nil
	return Builder{Reader: r, out: out, passed: map[string]bool{}}
}
