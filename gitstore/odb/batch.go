package odb

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"github.com/domarkx/domarkx"
)

// A batch of at most that many objects and bytes is held in memory until it is
// synced; a larger one is written to its pack as it grows.
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
//	err = b.Settle()                 // now Git may collect what refs do not reach
//
// It becomes one pack. A pack, unlike loose objects, can be kept from collections:
// `git prune`, `git repack` and `git gc` leave a pack alone that has a .keep file.
// Ours gets its .keep file before it appears and loses it after the refs have moved, so
// that no collection can take the objects, whenever it began to look for what refs
// reach, and whenever this process is killed. Small packs are joined by
// [Database.Consolidate].
//
// Its methods may be called from several goroutines at once.
type Batch struct {
	d    *Database
	skip func(ID) bool

	mu      sync.Mutex
	state   state
	seen    map[ID]struct{}
	bytes   int64
	objects []object // until there is a pack
	pack    *packWriter
	err     error // what made the pack fail
}

// An object is one whose content is in memory.
type object struct {
	id      ID
	t       Type
	data    []byte
	repeats dedupHint
}

// A dedupHint says how an object relates to those added before and after it.
type dedupHint uint8

const (
	alone    dedupHint = iota
	repeated           // others repeat it
	repeats            // it repeats another one for the most part
)

type state int

const (
	open state = iota
	synced
	ended
)

// Begin starts a batch. It touches no file.
func (d *Database) Begin() *Batch {
	return &Batch{d: d, seen: make(map[ID]struct{})}
}

// Skip makes the batch leave out the objects of which reached says that references
// reach them: those are stored, and no collection removes them. It must be called
// before anything else; reached is called from any goroutine.
func (b *Batch) Skip(reached func(ID) bool) { b.skip = reached }

// Add puts an object into the batch and returns its id; data stays the caller's.
// An object that the batch has already costs nothing. The object can be read from
// the Database after [Batch.Sync].
func (b *Batch) Add(t Type, data []byte) (ID, error) { return b.add(object{t: t, data: data}) }

// AddBase is [Batch.Add] of a blob of which parts are said again by those that follow: of a
// document, before its messages.
func (b *Batch) AddBase(data []byte) (ID, error) {
	return b.add(object{t: Blob, data: data, repeats: repeated})
}

// AddRepeating is [Batch.Add] of a blob that for the most part says again what one said that
// was given to [Batch.AddBase] shortly before. In a pack it becomes a delta of that.
func (b *Batch) AddRepeating(data []byte) (ID, error) {
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

// AddTree puts the tree with these entries into the batch, see [EncodeTree].
func (b *Batch) AddTree(entries []TreeEntry) (ID, error) {
	data, err := EncodeTree(entries)
	if err != nil {
		return ID{}, err
	}
	return b.Add(Tree, data)
}

// packed returns the writer of a pack that has these objects so far.
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

// Stats returns the number of different objects added and the size of their
// content in bytes.
func (b *Batch) Stats() (objects int, bytes int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.seen), b.bytes
}

// Sync writes the batch as a pack with a .keep file. When it returns without error,
// every object is complete, in its place and durable, and no collection removes it
// before [Batch.Settle]: refs may be moved to the objects. A repository that takes no
// writes is [domarkx.ErrReadOnly]; after an error the batch can only be aborted.
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

// Settle is called after refs reach the objects: it removes the .keep file. A
// collection that is running now saw the .keep file, or began to look for what refs
// reach after they had moved. Settle ends the batch.
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

// Abort ends the batch unless it has ended. Before Sync it leaves nothing behind;
// after, the objects stay where they are, for Git to collect when nothing reaches
// them: somebody may rely on them already.
func (b *Batch) Abort() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.state != ended && b.pack != nil {
		if b.state == synced {
			b.pack.keep.release()
			b.pack.close()
		} else {
			b.pack.abort()
		}
	}
	b.state = ended
}
