package odb

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/domarkx/domarkx"
)

// A batch of up to that many objects and bytes is kept in memory until it is synced; a larger
// one is written to its pack while it grows.
const (
	maxHeldObjects = 64
	maxHeldBytes   = 1 << 20
)

// A Batch is a group of new objects that become durable together:
//
//	b := d.Begin()
//	defer b.Abort()
//	id, err := b.Add(odb.Blob, data) // and more
//	err = b.Sync()                   // now refs may name them
//	…                                // move the refs
//	err = b.Settle()                 // now Git may collect unreachable objects again
//
// A batch becomes one pack. In contrast to loose objects, a pack can be protected from garbage
// collection: `git prune`, `git repack` and `git gc` leave packs with a .keep file alone. The pack
// gets its .keep file before it becomes visible and loses it after the refs have moved. So no
// collection removes the objects, whenever it started, and whenever this process is killed.
// [Database.Consolidate] joins small packs.
//
// The methods may be called from several goroutines at once.
type Batch struct {
	d    *Database
	skip func(ID) bool

	mu      sync.Mutex
	state   state
	seen    map[ID]struct{}
	bytes   int64
	objects []object // until there is a pack
	pack    *packWriter
	err     error // why the pack failed
}

// An object is an object in memory.
type object struct {
	id      ID
	t       Type
	data    []byte
	repeats dedupHint
}

// A dedupHint says how an object relates to objects that are added before and after it.
type dedupHint uint8

const (
	alone    dedupHint = iota
	repeated           // later objects repeat parts of it
	repeats            // it mostly repeats parts of an earlier object
)

type state int

const (
	open state = iota
	synced
	ended
)

// Begin starts a batch. It writes no file.
func (d *Database) Begin() *Batch {
	return &Batch{d: d, seen: make(map[ID]struct{})}
}

// Skip makes the batch omit the objects for which reached returns true. They must be stored and
// reachable from a ref, so that no collection removes them. Skip must be called before any other
// method; reached may be called from any goroutine.
func (b *Batch) Skip(reached func(ID) bool) { b.skip = reached }

// Add adds an object and returns its id. It does not keep data. Objects that the batch already
// contains are not added again. The object can be read from the Database after [Batch.Sync].
func (b *Batch) Add(t Type, data []byte) (ID, error) { return b.add(object{t: t, data: data}) }

// AddBase is [Batch.Add] for a blob whose parts are repeated by later blobs, for instance a
// document whose messages follow.
func (b *Batch) AddBase(data []byte) (ID, error) {
	return b.add(object{t: Blob, data: data, repeats: repeated})
}

// AddSimilar is [Batch.Add] for a blob that mostly repeats a recent blob of [Batch.AddBase]. In
// the pack it becomes a delta against that.
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
	id, err := sumNew(t, data)
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

// AddTree adds the tree with these entries; see [EncodeTree].
func (b *Batch) AddTree(entries []TreeEntry) (ID, error) {
	data, err := EncodeTree(entries)
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

// Sync writes the batch as a pack with a .keep file. When it returns nil, all objects are durable,
// and no collection removes them before [Batch.Settle], so that refs may be moved to them. The error
// is [domarkx.ErrReadOnly] if the repository is not writable. After an error the batch can only
// be aborted.
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

// Settle removes the .keep file and ends the batch. It must be called after refs reach the objects. A
// collection that is running has either seen the .keep file, or started to traverse the refs after
// they had moved.
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

// Abort ends the batch if it has not ended. Before Sync it leaves nothing behind. After Sync the
// objects remain, since other processes may use them already; Git collects unreachable ones.
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
