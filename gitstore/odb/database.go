package odb

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/domarkx/domarkx"
)

// A Database is the object database of one repository with its alternates. All
// methods but Close may be called from any number of goroutines at once.
type Database struct {
	common string   // the repository's common directory
	dirs   []string // object directories; the first takes the writes

	// mu is held shared while packs are read and exclusively while their list
	// changes, so that no mapping goes away under a reader.
	mu         sync.RWMutex
	packs      []*pack
	listed     int    // how often packs was changed
	scans      []scan // one per directory, once scanned
	promisor   bool   // some pack is that of a partial clone
	recent     atomic.Pointer[pack]
	bases      baseCache
	mmapBudget mmapBudget

	lazyFetch func(ID) error

	chooseBarrier   sync.Once
	chosenFsyncMode fsyncMode
}

// errGone says that a pack's file was removed since the list of packs was read.
var errGone = errors.New("pack was removed")

// Open opens the object database of the repository whose Git directory is
// gitDir. commonDir is the directory that its worktrees share; when it is empty,
// gitDir's commondir file says which, and without one it is gitDir. As in Git,
// the environment's GIT_OBJECT_DIRECTORY replaces the object directory and
// GIT_ALTERNATE_OBJECT_DIRECTORIES adds to objects/info/alternates.
//
// Opening reads no pack. A directory without objects is [domarkx.ErrNotFound].
func Open(gitDir, commonDir string) (*Database, error) {
	if commonDir == "" {
		commonDir = gitDir
		name, err := os.ReadFile(filepath.Join(gitDir, "commondir"))
		if err == nil {
			commonDir = strings.TrimRight(string(name), "\r\n")
			if !filepath.IsAbs(commonDir) {
				commonDir = filepath.Join(gitDir, commonDir)
			}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open repository %q: %w", gitDir, err)
		}
	}
	objects := os.Getenv("GIT_OBJECT_DIRECTORY")
	if objects == "" {
		objects = filepath.Join(commonDir, "objects")
	}
	if info, err := os.Stat(objects); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, fmt.Errorf("open objects of repository %q: %q: %w, expected a directory", gitDir, objects, domarkx.ErrNotFound)
	} else if err != nil {
		return nil, fmt.Errorf("open objects of repository %q: %w", gitDir, err)
	}
	dirs, err := withAlternates(objects, os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"))
	if err != nil {
		return nil, fmt.Errorf("open objects of repository %q: %w", gitDir, err)
	}
	d := &Database{common: commonDir, dirs: dirs}
	d.bases.init()
	return d, nil
}

// OnLazyFetch sets the function that fetches an object that the remote of a partial clone promised.
// It is called, from any goroutine, when an object to be read is nowhere; when it
// returns nil, the object is looked for once more. It must be set before the first
// reading.
func (d *Database) OnLazyFetch(bring func(ID) error) { d.lazyFetch = bring }

// Close gives back memory and files. No other method may be running or be called
// afterwards.
func (d *Database) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var errs []error
	for _, p := range d.packs {
		d.saveSizes(p)
		errs = append(errs, p.close())
	}
	d.packs, d.scans = nil, nil
	return errors.Join(errs...)
}

// Read returns an object's type and content, which the caller owns. The content
// is checked against the id. Errors are [domarkx.ErrNotFound],
// [domarkx.ErrCorrupt], [domarkx.ErrUnsupported] for an object over 256 MiB, and
// those of the file system.
func (d *Database) Read(id ID) (Type, []byte, error) {
	var t Type
	var data []byte
	err := d.lookupOrBring(id, func(p *pack, i int) (err error) {
		t, data, err = d.unpack(p, p.offset(i))
		return verified(err, id, t, data)
	}, func(path string) (err error) {
		t, data, err = readLoose(path)
		return verified(err, id, t, data)
	})
	if err != nil {
		return 0, nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return t, data, nil
}

func verified(err error, id ID, t Type, data []byte) error {
	if err == nil && Sum(t, data) != id {
		err = fmt.Errorf("%w: its content has another id", domarkx.ErrCorrupt)
	}
	return err
}

// Size returns an object's type and the size of its content in bytes without
// reading the content: it promises less than Read, a corrupt object may have one.
func (d *Database) Size(id ID) (Type, int64, error) {
	var t Type
	var size int64
	err := d.lookupOrBring(id, func(p *pack, i int) (err error) {
		t, size, err = d.stat(p, i)
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

// Has reports whether the object is there, without looking into it.
func (d *Database) Has(id ID) bool {
	return d.lookup(id,
		func(*pack, int) error { return nil },
		func(path string) error { _, err := os.Lstat(path); return err },
	) == nil
}

// typed reads an object that must have that type.
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

// Blob returns the content of a blob, which the caller owns. An object of another
// type is [domarkx.ErrCorrupt].
func (d *Database) Blob(id ID) ([]byte, error) { return d.typed(Blob, id) }

// Commit returns a commit as it is stored: headers, an empty line and the message.
func (d *Database) Commit(id ID) ([]byte, error) { return d.typed(Commit, id) }

// Tree returns the entries of a tree in the order in which they are stored.
func (d *Database) Tree(id ID) ([]TreeEntry, error) {
	data, err := d.typed(Tree, id)
	if err != nil {
		return nil, err
	}
	entries, err := DecodeTree(data)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", id, err)
	}
	return entries, nil
}

// lookupOrBring is lookup for what has to be there: promised objects are brought.
func (d *Database) lookupOrBring(id ID, packed func(*pack, int) error, loose func(path string) error) error {
	err := d.lookup(id, packed, loose)
	if !errors.Is(err, domarkx.ErrNotFound) || d.lazyFetch == nil || !d.isPartial() {
		return err
	}
	if bringErr := d.lazyFetch(id); bringErr != nil {
		return fmt.Errorf("%w; fetching it: %w", err, bringErr)
	}
	return d.lookup(id, packed, loose)
}

// maxRescans bounds how often a search begins again because somebody repacked.
const maxRescans = 8

// lookup calls one of the functions on each place where the object is until one
// succeeds, and again while the list of packs changes: somebody may have packed it
// meanwhile. Like Git, it prefers a sound
// copy elsewhere to the report of a damaged one.
func (d *Database) lookup(id ID, packed func(*pack, int) error, loose func(path string) error) error {
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
		// Another goroutine may have brought the list up to date.
		if try < maxRescans && (gone || listed != searched) {
			continue
		}
		if gone {
			return fmt.Errorf("%w: its pack disappears again and again", domarkx.ErrNotFound)
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

// lookupOnce searches once, and returns which list of packs it searched.
func (d *Database) lookupOnce(id ID, packed func(*pack, int) error, loose func(path string) error) (listed int, err error) {
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

// lookupPacks reports whether the function succeeded on a pack's copy of the
// object; a damaged one is not found, with an error.
func (d *Database) lookupPacks(id ID, packed func(*pack, int) error) (found bool, listed int, err error) {
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
