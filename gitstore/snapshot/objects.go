package snapshot

import (
	"bytes"
	"fmt"
	"io"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
)

// A Reader reads objects of the repository and, within an update, those that it has already written.
type Reader struct {
	db      *odb.Database
	shallow string                 // file with the boundary of a shallow clone
	fresh   map[odb.ID]freshObject // nil outside an update
	sizes   map[odb.ID]int64       // sizes of other blobs that the update stored and cannot read yet; nil outside an update
	links   *linkWalks             // nil within an update
	files   *fileCache             // nil within an update
}

// NewReader returns a reader of a repository. shallow is the file with the boundary of a shallow clone.
func NewReader(db *odb.Database, shallow string) Reader {
	return Reader{db: db, shallow: shallow, links: &linkWalks{}, files: &fileCache{}}
}

type freshObject struct {
	kind odb.Type
	data []byte
}

// typed returns the content of an object of that type. The caller must not change it.
func (r Reader) typed(id odb.ID, kind odb.Type) ([]byte, error) {
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

// size returns the size of a blob.
func (r Reader) size(id odb.ID) (int64, error) {
	if o, ok := r.fresh[id]; ok {
		return int64(len(o.data)), nil
	}
	if size, ok := r.sizes[id]; ok {
		return size, nil
	}
	_, size, err := r.db.Size(id)
	return size, err
}

func (r Reader) tree(id odb.ID) ([]odb.TreeEntry, error) {
	data, err := r.typed(id, odb.Tree)
	if err != nil {
		return nil, err
	}
	entries, err := odb.DecodeTree(data)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return entries, nil
}

func (r Reader) blob(id odb.ID) ([]byte, error) { return r.typed(id, odb.Blob) }

func (r Reader) commit(id odb.ID) (*codec.Commit, error) {
	data, err := r.typed(id, odb.Commit)
	if err != nil {
		return nil, err
	}
	c, err := codec.DecodeCommit(id, data)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return c, nil
}

// directory returns the tree of that name, or a zero id.
func directory(entries []odb.TreeEntry, name string) (odb.ID, error) {
	e := odb.FindEntry(entries, name)
	if e.Name != "" && !e.IsTree() {
		return odb.ID{}, fmt.Errorf("%s: %w: mode %o, expected a directory", name, domarkx.ErrCorrupt, e.Mode)
	}
	return e.ID, nil
}

// stored returns the file of that name, or a zero blob.
func stored(entries []odb.TreeEntry, name string) (domarkx.Blob, error) {
	e := odb.FindEntry(entries, name)
	if e.Name == "" {
		return domarkx.Blob{}, nil
	}
	if e.Mode != odb.ModeFile {
		return domarkx.Blob{}, fmt.Errorf("%s: %w: mode %o, expected an ordinary file", name, domarkx.ErrCorrupt, e.Mode)
	}
	b := domarkx.Blob{ID: e.ID.String()}
	chunks, err := directory(entries, name+codec.ChunksSuffix)
	if err == nil && !chunks.IsZero() {
		b.Chunks = chunks.String()
	}
	return b, err
}

// small returns the content of the file of that name, nil if there is none.
func (r Reader) small(entries []odb.TreeEntry, name string) ([]byte, error) {
	b, err := stored(entries, name)
	if err != nil || b.ID == "" {
		return nil, err
	}
	id, err := odb.ParseID(b.ID)
	if err != nil {
		return nil, err
	}
	data, err := r.blob(id)
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// open opens the content of a blob and returns its size in bytes.
func (r Reader) open(b domarkx.Blob) (io.ReadCloser, int64, error) {
	if b.Data != nil || b.ID == "" {
		return io.NopCloser(bytes.NewReader(b.Data)), int64(len(b.Data)), nil
	}
	id, err := odb.ParseID(b.ID)
	if err != nil {
		return nil, 0, err
	}
	if b.Chunks == "" {
		data, err := r.blob(id)
		return io.NopCloser(bytes.NewReader(data)), int64(len(data)), err
	}
	chunks, err := odb.ParseID(b.Chunks)
	if err != nil {
		return nil, 0, err
	}
	return chunked.Open(r.db, id, chunks)
}
