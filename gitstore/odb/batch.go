package odb

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
)

// The number of objects, and of their bytes, up to which a batch is kept in memory until Sync. A larger batch is
// written to its pack while it grows.
const (
	maxHeldObjects = 64
	maxHeldBytes   = 1 << 20
)

// A Batch is a group of new objects that become durable together:
//
//	b := d.Begin()
//	defer b.Abort()
//	id, err := b.Add(odb.Blob, data) // for each object
//	err = b.Sync()                   // now refs may name the objects
//	…                                // move the refs
//	err = b.Settle()                 // from now on the refs protect the objects
//
// A batch becomes one pack, because Git's garbage collection can be told to leave a pack alone: `git prune`, `git
// repack` and `git gc` do not remove packs with a .keep file. The pack gets its .keep file before Git can see it, and
// loses the file after the refs have moved. So no collection removes the objects, whenever it started, even if this
// process is killed at any point. [Database.Consolidate] joins small packs.
//
// Several goroutines may call the methods at once.
type Batch struct {
	d    *Database
	skip func(ID) bool

	mu      sync.Mutex
	state   state
	seen    map[ID]struct{}
	bytes   int64
	objects []object // objects in memory, until there is a pack
	pack    *packWriter
	err     error // why writing the pack failed
}

// An object is an object in memory.
type object struct {
	id      ID
	t       Type
	data    []byte
	repeats dedupHint
}

// A dedupHint describes how the content of an object relates to objects that are added before and after it.
type dedupHint uint8

const (
	alone    dedupHint = iota
	repeated           // objects that are added later repeat parts of it
	repeats            // most of it repeats parts of an object that was added before
)

type state int

const (
	open state = iota
	synced
	ended
)

// Begin starts a batch, without writing a file.
func (d *Database) Begin() *Batch {
	return &Batch{d: d, seen: make(map[ID]struct{})}
}

// Sum returns the id that an object gets, without adding it.
func (b *Batch) Sum(t Type, data []byte) ID { return b.d.Sum(t, data) }

// Skip sets a function that reports whether the batch can omit an object, because the object is stored and a ref
// reaches it, so that no collection removes it. Skip is called before any other method. The function may be called from
// any goroutine.
func (b *Batch) Skip(reached func(ID) bool) { b.skip = reached }

// Add adds an object and returns its id, unless the batch already contains it. It does not keep data. The object can be
// read from the Database after [Batch.Sync].
func (b *Batch) Add(t Type, data []byte) (ID, error) { return b.add(object{t: t, data: data}) }

// AddBase is like [Batch.Add], for a blob whose parts occur in later blobs: for example, a document whose messages are
// added later.
func (b *Batch) AddBase(data []byte) (ID, error) {
	return b.add(object{t: Blob, data: data, repeats: repeated})
}

// AddSimilar is like [Batch.Add], for a blob that is mostly a repetition of a recent blob of [Batch.AddBase]. In the
// pack it becomes a delta against that blob.
func (b *Batch) AddSimilar(data []byte) (ID, error) {
	return b.add(object{t: Blob, data: data, repeats: repeats})
}

func (b *Batch) add(o object) (ID, error) {
	t, data := o.t, o.data
	if len(data) > maxObject {
		return ID{}, fmt.Errorf("add %s: %w", t, errTooLarge(int64(len(data))))
	}
	if t < Commit || t > Tag {
		return ID{}, fmt.Errorf("add %s: %w", t, domarkx.ErrInvalid)
	}
	id, err := sumNew(b.d.hash, t, data)
	if err != nil {
		return ID{}, fmt.Errorf("add %w", err)
	}
	o.id = id
	if b.skip != nil && b.skip(id) {
		return id, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != open {
		return ID{}, errors.New("add object: the batch is written already")
	}
	if b.err != nil {
		return ID{}, b.err
	}
	if _, there := b.seen[id]; there {
		return id, nil
	}
	b.seen[id] = struct{}{}
	b.bytes += int64(len(data))
	if b.pack == nil && (len(b.seen) > maxHeldObjects || b.bytes > maxHeldBytes) {
		b.pack, b.err = b.d.packed(b.objects)
		b.objects = nil
	}
	if b.pack == nil && b.err == nil {
		o.data = bytes.Clone(data)
		b.objects = append(b.objects, o)
	} else if b.err == nil {
		b.err = b.pack.add(o)
	}
	if b.err != nil {
		b.err = fmt.Errorf("add object %s: %w", id, b.err)
		return ID{}, b.err
	}
	return id, nil
}

// Forget omits an object that was added, if it is not in a file yet, because the object is stored and a ref reaches it.
// [Batch.Skip] prevents that objects are added; this is for a caller that learns it afterwards.
func (b *Batch) Forget(id ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.objects = slices.DeleteFunc(b.objects, func(o object) bool { return o.id == id })
}

// AddTree adds the tree with these entries, which [EncodeTree] encodes.
func (b *Batch) AddTree(entries []TreeEntry) (ID, error) {
	data, err := EncodeTree(b.d.hash, entries)
	if err != nil {
		return ID{}, err
	}
	return b.Add(Tree, data)
}

// packed returns the writer of a new pack with these objects.
func (d *Database) packed(objects []object) (*packWriter, error) {
	w, err := d.newPackWriter()
	if err != nil {
		return nil, err
	}
	for _, o := range objects {
		if err := w.add(o); err != nil {
			w.abort()
			return nil, err
		}
	}
	return w, nil
}

// Stats returns the number of different objects that were added, and the size of their content
// in bytes.
func (b *Batch) Stats() (objects int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen), b.bytes
}

// Sync writes the batch as a pack with a .keep file. When it returns nil, all objects are durable, no collection
// removes them before [Batch.Settle], and the caller may move refs to them. It returns [domarkx.ErrReadOnly] if the
// repository is not writable. After an error the caller can only call Abort.
func (b *Batch) Sync() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.state == synced:
		return nil
	case b.state == ended:
		return errors.New("sync objects: the batch has ended")
	case b.err != nil:
		return b.err
	}
	if b.pack == nil && len(b.objects) > 0 {
		b.pack, b.err = b.d.packed(b.objects)
		b.objects = nil
	}
	if b.pack != nil && b.err == nil {
		b.err = b.pack.finish()
	}
	if b.err == nil {
		b.state = synced
	}
	return b.err
}

// Settle removes the .keep file and ends the batch. The caller calls it once refs reach the objects. They are safe
// then: a collection that is already running has either seen the .keep file, or reads the refs after they have moved.
func (b *Batch) Settle() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state == ended {
		return nil
	}
	if b.state == open {
		return errors.New("settle objects: the batch is not synced")
	}
	b.state = ended
	if b.pack == nil {
		return nil
	}
	return errors.Join(b.pack.keep.release(), b.pack.close())
}

// Abort ends the batch if Settle has not ended it. Before Sync it leaves no files. After Sync it leaves the objects,
// since other processes may use them already; Git collects those that no ref reaches.
func (b *Batch) Abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != ended && b.pack != nil {
		if b.state == synced {
			_ = b.pack.keep.release()
			b.pack.close()
		} else {
			b.pack.abort()
		}
	}
	b.state = ended
}
