package snapshot

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// A Builder writes the objects of a running update.
type Builder struct {
	Reader
	batch  *odb.Batch
	passed map[string]bool // trees of conversations whose messages cannot be read within the update
	answer func(id string, data []byte)
}

// OnAnswer makes the builder call a function with the id and the JSON of each message of an assistant
// that it stores.
func (b *Builder) OnAnswer(f func(id string, data []byte)) { b.answer = f }

// NewBuilder returns a builder that reads with r and what it has written to batch.
func NewBuilder(r Reader, batch *odb.Batch) Builder {
	r.fresh, r.sizes, r.links, r.files = map[odb.ID]freshObject{}, map[odb.ID]int64{}, nil, nil
	return Builder{Reader: r, batch: batch, passed: map[string]bool{}}
}

// keep stores an object that later steps of the same update may read.
func (b *Builder) keep(kind odb.Type, data []byte) (odb.ID, error) {
	id, err := b.batch.Add(kind, data)
	if err == nil {
		b.fresh[id] = freshObject{kind, data}
	}
	return id, err
}

// keepCommit stores a commit as keep does.
func (b *Builder) keepCommit(c *codec.Commit) (odb.ID, error) {
	data, err := c.Encode()
	if err != nil {
		return odb.ID{}, err
	}
	return b.keep(odb.Commit, data)
}

// makeTree stores a tree, whose entries may be in any order, for later steps of the same update. It
// does not write a tree that equals one of the known trees, and no tree without entries.
func (b *Builder) makeTree(entries []odb.TreeEntry, known ...odb.ID) (odb.ID, error) {
	return writeTree(b.keep, entries, known...)
}

// writeTree is makeTree with another function that stores the object.
func writeTree(write func(odb.Type, []byte) (odb.ID, error), entries []odb.TreeEntry, known ...odb.ID) (odb.ID, error) {
	if len(entries) == 0 {
		return odb.ID{}, nil
	}
	data, err := odb.EncodeTree(entries)
	if err != nil {
		return odb.ID{}, err
	}
	if id := odb.Sum(odb.Tree, data); slices.Contains(known, id) {
		return id, nil
	}
	return write(odb.Tree, data)
}

// storeBlob stores content that has no id yet, and sets its ids. The content probably repeats a part
// of what storeBase stored before.
func (b *Builder) storeBlob(ctx context.Context, blob *domarkx.Blob) error {
	return b.storeWith(ctx, blob, b.batch.AddSimilar)
}

// storeBase is storeBlob for content whose parts the following blobs repeat.
func (b *Builder) storeBase(ctx context.Context, blob *domarkx.Blob) error {
	return b.storeWith(ctx, blob, b.batch.AddBase)
}

func (b *Builder) storeWith(ctx context.Context, blob *domarkx.Blob, add func([]byte) (odb.ID, error)) error {
	if blob.ID != "" {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(blob.Data) > chunked.Threshold || chunked.IsPointer(blob.Data) {
		large, err := b.large(bytes.NewReader(blob.Data))
		if err == nil {
			blob.ID, blob.Chunks = large.ID, large.Chunks
		}
		return err
	}
	id, err := add(blob.Data)
	if err == nil {
		blob.ID = id.String()
	}
	return err
}

// large stores content in chunks.
func (b *Builder) large(content io.Reader) (domarkx.Blob, error) {
	pointer, chunks, _, err := chunked.Add(b.batch, content)
	return domarkx.Blob{ID: pointer.String(), Chunks: chunks.String()}, err
}

// file appends the tree entries of a stored blob.
func file(entries []odb.TreeEntry, name string, blob domarkx.Blob) ([]odb.TreeEntry, error) {
	id, err := odb.ParseID(blob.ID)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	entries = append(entries, odb.TreeEntry{Mode: odb.ModeFile, Name: name, ID: id})
	if blob.Chunks != "" {
		if id, err = odb.ParseID(blob.Chunks); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		entries = append(entries, odb.TreeEntry{Mode: odb.ModeTree, Name: name + codec.ChunksSuffix, ID: id})
	}
	return entries, nil
}
