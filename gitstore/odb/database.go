package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb/packidx"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// A Database is the object database of a repository, including its alternates. All methods except Close may be called
// from several goroutines at once.
type Database struct {
	dirs []string // object directories; new objects are written to the first
	hash oid.Hash

	// mu is locked for reading while packs are read, and for writing while the list of packs changes: so no mapping is
	// removed while it is read.
	mu         sync.RWMutex
	packs      []*pack
	listed     int         // number of changes of packs
	scanned    []time.Time // modification times of the directories of packs; zero if one must be read again
	promisor   bool        // whether a pack belongs to a partial clone
	recent     atomic.Pointer[pack]
	bases      baseCache
	mmapBudget mmapBudget

	lazyFetch func(ID) error
}

// A packedFunc is called with the position of an object in the index of a pack.
type packedFunc func(p *pack, x *packidx.Index, i int) error

// errGone reports that the file of a pack was removed after the list of packs was read.
var errGone = errors.New("pack was removed")

// Open opens the object database of a repository that names its objects by a hash function, given its object directory. As in Git, the
// environment variable GIT_ALTERNATE_OBJECT_DIRECTORIES adds to objects/info/alternates (git(1)).
//
// Open reads no pack. It returns [domarkx.ErrNotFound] for a directory without objects.
func Open(objects string, by oid.Hash) (*Database, error) {
	repository := filepath.Dir(objects)
	if info, err := os.Stat(objects); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open objects of repository %q: %q: %w, expected a directory", repository, objects, domarkx.ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("open objects of repository %q: %w", repository, err)
	}
	dirs, err := withAlternates(objects, os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"), by)
	if err != nil {
		return nil, fmt.Errorf("open objects of repository %q: %w", repository, err)
	}
	return &Database{dirs: dirs, hash: by, scanned: make([]time.Time, len(dirs))}, nil
}

// Hash returns the hash function by which the repository names its objects.
func (d *Database) Hash() oid.Hash { return d.hash }

// Sum returns the id that the object with that type and content has in the repository.
func (d *Database) Sum(t Type, data []byte) ID { return Sum(d.hash, t, data) }

// OnLazyFetch sets the function that fetches a missing object from the remote of a partial clone. A read calls it, from
// any goroutine, if its object is missing, and looks for the object again if the function returns nil. OnLazyFetch must
// be called before the first read.
func (d *Database) OnLazyFetch(fetch func(ID) error) { d.lazyFetch = fetch }

// Close releases memory and open files. No other method may run at the same time or afterwards.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, p := range d.packs {
		errs = append(errs, p.close())
	}
	d.packs = nil
	return errors.Join(errs...)
}

// Read returns the type and content of an object, after it has verified the content with the id. The caller owns the
// content. Read returns [domarkx.ErrNotFound], [domarkx.ErrCorrupt], [domarkx.ErrUnsupported] for an object of more
// than 256 MiB, or an error of the file system.
func (d *Database) Read(id ID) (Type, []byte, error) {
	var t Type
	var data []byte
	err := d.lookupOrFetch(id, func(p *pack, x *packidx.Index, i int) (err error) {
		t, data, err = d.unpack(p, x.Offset(i))
		return verified(d.hash, err, id, t, data)
	}, func(path string) (err error) {
		t, data, err = readLoose(path)
		return verified(d.hash, err, id, t, data)
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return t, data, nil
}

func verified(by oid.Hash, err error, id ID, t Type, data []byte) error {
	if err == nil && Sum(by, t, data) != id {
		err = fmt.Errorf("%w: its content has another id", domarkx.ErrCorrupt)
	}
	return err
}

// Size returns the type of an object and the size of its content in bytes. It does not read the content, and so may
// succeed for a corrupt object. Its errors are those of [Database.Read].
func (d *Database) Size(id ID) (Type, int64, error) {
	var t Type
	var size int64
	err := d.lookupOrFetch(id, func(p *pack, x *packidx.Index, i int) (err error) {
		t, size, err = p.stat(x.Offset(i))
		return err
	}, func(path string) (err error) {
		t, size, err = statLoose(path)
		return err
	})
	if err != nil {
		return 0, 0, fmt.Errorf("read size of object %s: %w", id, err)
	}
	return t, size, nil
}

// Has reports whether an object exists, without reading it.
func (d *Database) Has(id ID) bool {
	return d.lookup(id,
		func(*pack, *packidx.Index, int) error { return nil },
		func(path string) error { _, err := os.Lstat(path); return err },
	) == nil
}

// typed reads an object, and returns [domarkx.ErrCorrupt] if it has another type.
func (d *Database) typed(want Type, id ID) ([]byte, error) {
	t, data, err := d.Read(id)
	if err == nil && t != want {
		err = fmt.Errorf("read object %s: %w: it is a %s, expected a %s", id, domarkx.ErrCorrupt, t, want)
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Blob returns the content of a blob, which the caller owns. Its errors are those of [Database.Read], and
// [domarkx.ErrCorrupt] for an object of another type.
func (d *Database) Blob(id ID) ([]byte, error) { return d.typed(Blob, id) }

// Commit returns an encoded commit: headers, an empty line and the message.
func (d *Database) Commit(id ID) ([]byte, error) { return d.typed(Commit, id) }

// Tree returns the entries of a tree in their stored order.
func (d *Database) Tree(id ID) ([]TreeEntry, error) {
	data, err := d.typed(Tree, id)
	if err != nil {
		return nil, err
	}
	entries, err := DecodeTree(d.hash, data)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return entries, nil
}

// lookupOrFetch is like lookup, for an object that must exist. In a partial clone it fetches the object if it is
// missing.
func (d *Database) lookupOrFetch(id ID, packed packedFunc, loose func(path string) error) error {
	err := d.lookup(id, packed, loose)
	if !errors.Is(err, domarkx.ErrNotFound) || d.lazyFetch == nil || !d.isPartial() {
		return err
	}
	if fetchErr := d.lazyFetch(id); fetchErr != nil {
		return fmt.Errorf("%w; fetching it: %w", err, fetchErr)
	}
	return d.lookup(id, packed, loose)
}

// maxRescans limits how often a lookup is repeated because another process repacks.
const maxRescans = 8

// lookup calls one of the functions for each copy of an object, in packs or loose, until one succeeds. Like Git, it
// prefers an intact copy to the error of a damaged one. It repeats the search if the list of packs has changed, since
// another process may have moved the object to a new pack.
func (d *Database) lookup(id ID, packed packedFunc, loose func(path string) error) error {
	for try := 0; ; try++ {
		searched, err := d.lookupOnce(id, packed, loose)
		if err == nil {
			return nil
		}
		gone := errors.Is(err, errGone)
		listed, scanErr := d.rescan(gone)
		if scanErr != nil {
			return scanErr
		}
		// Another goroutine may have updated the list of packs since.
		if try < maxRescans && (gone || listed != searched) {
			continue
		}
		if gone {
			return fmt.Errorf("%w: its pack was repeatedly removed", domarkx.ErrNotFound)
		}
		if errors.Is(err, domarkx.ErrNotFound) && d.isPartial() {
			return fmt.Errorf("%w here: this is a partial clone, `git cat-file -e %s` fetches it", err, id)
		}
		return err
	}
}

func (d *Database) isPartial() bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.promisor
}

// lookupOnce searches all copies once. listed is the number of the list of packs that it searched (see rescan).
func (d *Database) lookupOnce(id ID, packed packedFunc, loose func(path string) error) (listed int, err error) {
	found, listed, err := d.lookupPacks(id, packed)
	if found {
		return listed, nil
	}
	for _, dir := range d.dirs {
		looseErr := loose(loosePath(dir, id))
		if looseErr == nil {
			return listed, nil
		}
		if !errors.Is(looseErr, fs.ErrNotExist) && err == nil {
			err = looseErr
		}
	}
	if err == nil {
		err = domarkx.ErrNotFound
	}
	return listed, err
}

// lookupPacks calls a function for the copies of an object in packs, and reports whether it succeeded for one. For
// damaged copies it returns false and an error.
func (d *Database) lookupPacks(id ID, packed packedFunc) (found bool, listed int, err error) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	recent := d.recent.Load()
	for i := -1; i < len(d.packs); i++ {
		p := recent
		if i >= 0 {
			p = d.packs[i]
		}
		if p == nil || i >= 0 && p == recent {
			continue
		}
		ok, e := p.lookup(id, packed)
		if ok && e == nil {
			d.recent.Store(p)
			return true, d.listed, nil
		}
		if e != nil && (err == nil || errors.Is(err, errGone)) {
			err = e
		}
	}
	return false, d.listed, err
}
