package object

import (
	"bytes"
	"context"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/codec"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/odb/chunked"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Writer writes the objects of a running update. Its [Reader] reads those that it keeps in memory before
// the batch is stored.
type Writer struct {
	Reader
	batch *odb.Batch
	known map[odb.ID]bool // objects that refs reach
}

// NewWriter returns a writer to batch that reads the repository of r.
func NewWriter(r Reader, batch *odb.Batch) *Writer {
	return &Writer{Reader: Reader{db: r.db, fresh: map[odb.ID]freshObject{}, sizes: map[odb.ID]int64{}}, batch: batch, known: map[odb.ID]bool{}}
}

// Know reads a directory that refs reach, and directories in it up to that number of levels. The update does not store these
// directories and their entries again.
func (w *Writer) Know(id odb.ID, levels int) error {
	if w.known[id] {
		return nil
	}
	if levels > 0 {
		entries, err := w.Tree(id)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsTree() {
				if err := w.Know(e.ID, levels-1); err != nil {
					return err
				}
			}
			w.known[e.ID] = true
		}
	}
	w.known[id] = true // not before, because an unreadable directory has to be stored again
	return nil
}

// Knows reports whether the update does not store an object because of [Writer.Know].
func (w *Writer) Knows(id odb.ID) bool { return w.known[id] }

// isKnown returns the id of an object, and whether the update does not store it because of [Writer.Know].
func (w *Writer) isKnown(kind odb.Type, data []byte) (id odb.ID, known bool) {
	if len(w.known) > 0 {
		id = w.db.Sum(kind, data)
	}
	return id, w.known[id]
}

func (w *Writer) add(kind odb.Type, data []byte) (id odb.ID, isNew bool, err error) {
	if id, known := w.isKnown(kind, data); known {
		return id, false, nil
	}
	id, err = w.batch.Add(kind, data)
	return id, err == nil, err
}

// Write stores an object that later steps of the same update may read. The caller must not change data
// afterwards.
func (w *Writer) Write(kind odb.Type, data []byte) (odb.ID, error) {
	id, isNew, err := w.add(kind, data)
	if isNew {
		w.fresh[id] = freshObject{kind, data}
	}
	return id, err
}

// WriteUnread stores an object whose content no later step of the update reads, so that it need not
// stay in memory. Its size can still be read.
func (w *Writer) WriteUnread(kind odb.Type, data []byte) (odb.ID, error) {
	id, isNew, err := w.add(kind, data)
	if isNew {
		w.sizes[id] = int64(len(data))
	}
	return id, err
}

// Keep makes an object readable for later steps of the update without storing it. It is discarded
// unless a later step stores it.
func (w *Writer) Keep(kind odb.Type, data []byte) odb.ID {
	id := w.db.Sum(kind, data)
	w.fresh[id] = freshObject{kind, data}
	return id
}

// WriteCommit stores a commit as [Writer.Write] does.
func (w *Writer) WriteCommit(c *codec.Commit) (odb.ID, error) {
	data, err := c.Encode()
	if err != nil {
		return odb.ID{}, err
	}
	return w.Write(odb.Commit, data)
}

// WriteTree stores a tree, whose entries may be in any order, as [Writer.Write] does. Without entries it writes nothing and
// returns a zero id.
func (w *Writer) WriteTree(entries []odb.TreeEntry) (odb.ID, error) {
	return EncodeTree(w.Hash(), w.Write, entries)
}

// EncodeTree is [Writer.WriteTree] with another function that stores the object.
func EncodeTree(by oid.Hash, write func(odb.Type, []byte) (odb.ID, error), entries []odb.TreeEntry) (odb.ID, error) {
	if len(entries) == 0 {
		return odb.ID{}, nil
	}
	data, err := odb.EncodeTree(by, entries)
	if err != nil {
		return odb.ID{}, err
	}
	return write(odb.Tree, data)
}

// StoreBlob stores content that has no id yet, and sets its ids. The content probably repeats a part
// of what [Writer.StoreBase] stored before.
func (w *Writer) StoreBlob(ctx context.Context, blob *domarkx.Blob) error {
	return w.storeWith(ctx, blob, w.batch.AddSimilar)
}

// StoreBase is [Writer.StoreBlob] for content whose parts the following blobs repeat.
func (w *Writer) StoreBase(ctx context.Context, blob *domarkx.Blob) error {
	return w.storeWith(ctx, blob, w.batch.AddBase)
}

func (w *Writer) storeWith(ctx context.Context, blob *domarkx.Blob, add func([]byte) (odb.ID, error)) error {
	if blob.ID != "" {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(blob.Data) > chunked.Threshold || chunked.IsPointer(w.Hash(), blob.Data) {
		large, err := w.StoreChunks(bytes.NewReader(blob.Data))
		if err == nil {
			blob.ID, blob.Chunks = large.ID, large.Chunks
		}
		return err
	}
	id, known := w.isKnown(odb.Blob, blob.Data)
	if !known {
		var err error
		if id, err = add(blob.Data); err != nil {
			return err
		}
	}
	blob.ID = id.String()
	return nil
}

// StoreChunks stores content of any size in chunks.
func (w *Writer) StoreChunks(content io.Reader) (domarkx.Blob, error) {
	pointer, chunks, _, err := chunked.Add(w.batch, content)
	return domarkx.Blob{ID: pointer.String(), Chunks: chunks.String()}, err
}
