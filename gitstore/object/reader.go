// Package object reads and writes the Git objects of snapshots and versions, with their types
// checked. What an update writes, it can read again before the objects are stored for good.
package object

import (
	"bytes"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Reader reads objects of the repository and, within an update, those that it has already written. An
// object of another type than expected is [domarkx.ErrCorrupt], a missing one [domarkx.ErrNotFound].
type Reader struct {
	db    *odb.Database
	fresh map[odb.ID]freshObject // nil outside an update
	sizes map[odb.ID]int64       // sizes of other blobs that the update stored and cannot read yet; nil outside an update
}

type freshObject struct {
	kind odb.Type
	data []byte
}

// NewReader returns a reader of a repository.
func NewReader(db *odb.Database) Reader { return Reader{db: db} }

// Hash returns the hash function of the repository.
func (r Reader) Hash() oid.Hash { return r.db.Hash() }

// Read returns the content of an object of that type. The caller must not change it.
func (r Reader) Read(id odb.ID, kind odb.Type) ([]byte, error) {
	got, data := odb.Type(0), []byte(nil)
	if o, ok := r.fresh[id]; ok {
		got, data = o.kind, o.data
	} else {
		var err error
		if got, data, err = r.db.Read(id); err != nil {
			return nil, err
		}
	}
	if got != kind {
		return nil, fmt.Errorf("read object %s: %w: it is a %s, expected a %s", id, domarkx.ErrCorrupt, got, kind)
	}
	return data, nil
}

// Size returns the size of an object in bytes.
func (r Reader) Size(id odb.ID) (int64, error) {
	if o, ok := r.fresh[id]; ok {
		return int64(len(o.data)), nil
	}
	if size, ok := r.sizes[id]; ok {
		return size, nil
	}
	_, size, err := r.db.Size(id)
	return size, err
}

// Tree returns the entries of a tree.
func (r Reader) Tree(id odb.ID) ([]odb.TreeEntry, error) {
	data, err := r.Read(id, odb.Tree)
	if err != nil {
		return nil, err
	}
	entries, err := odb.DecodeTree(r.Hash(), data)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return entries, nil
}

// Blob returns the content of a blob. The caller must not change it.
func (r Reader) Blob(id odb.ID) ([]byte, error) { return r.Read(id, odb.Blob) }

// Commit returns a decoded commit.
func (r Reader) Commit(id odb.ID) (*codec.Commit, error) {
	data, err := r.Read(id, odb.Commit)
	if err != nil {
		return nil, err
	}
	c, err := codec.DecodeCommit(r.Hash(), data)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return c, nil
}

// CommitOf is [Reader.Commit] for an id in hexadecimal digits.
func (r Reader) CommitOf(id string) (*codec.Commit, error) {
	oid, err := odb.ParseID(id)
	if err != nil {
		return nil, err
	}
	return r.Commit(oid)
}

// SmallFile returns the content of the file of that name, nil if there is none. Of a file that is stored in
// chunks it is the pointer.
func (r Reader) SmallFile(entries []odb.TreeEntry, name string) ([]byte, error) {
	b, err := File(entries, name)
	if err != nil || b.ID == "" {
		return nil, err
	}
	id, err := odb.ParseID(b.ID)
	if err != nil {
		return nil, err
	}
	data, err := r.Blob(id)
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// Open opens the content of a blob, which the caller closes, and returns its size in bytes.
func (r Reader) Open(b domarkx.Blob) (io.ReadCloser, int64, error) {
	if b.Data != nil || b.ID == "" {
		return io.NopCloser(bytes.NewReader(b.Data)), int64(len(b.Data)), nil
	}
	id, err := odb.ParseID(b.ID)
	if err != nil {
		return nil, 0, err
	}
	if b.Chunks == "" {
		data, err := r.Blob(id)
		return io.NopCloser(bytes.NewReader(data)), int64(len(data)), err
	}
	chunks, err := odb.ParseID(b.Chunks)
	if err != nil {
		return nil, 0, err
	}
	return chunked.Open(r.db, id, chunks)
}
