package refdb

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// A Listing is the list of the references with a prefix, at one time. It must not be changed.
type Listing struct {
	Refs    []Ref // sorted by the bytes of their names
	damaged []*Damage
	places  []placeState // in the files backend

	inTables bool   // whether the references are in the reftable backend
	tables   string // the list of tables
}

// Damaged returns what [Refs.Damaged] says of the references in the list.
func (l *Listing) Damaged() []*Damage { return l.damaged }

// A placeState is the state of a directory with references, or of packed-refs. Git replaces the file of a reference by
// renaming, which changes the time of its directory.
type placeState struct {
	path string
	info fs.FileInfo // nil if it does not exist
}

func stateOf(path string) (placeState, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		return placeState{path, nil}, nil
	}
	return placeState{path, info}, err
}

// settled is the age from which the time of a directory shows each later change: file systems count in ticks of
// up to two seconds.
const settled = 2500 * time.Millisecond

// isSettled reports whether each later change of the references will show in the places of a list that was read at that time.
func (l *Listing) isSettled(began time.Time) bool {
	for _, p := range l.places {
		if p.info != nil && began.Sub(p.info.ModTime()) < settled {
			return false
		}
	}
	return true
}

// isCurrent reports whether the references are as they were.
func (l *Listing) isCurrent(r *Refs) bool {
	if l.inTables {
		tables, err := r.tables()
		return err == nil && tables == l.tables
	}
	for _, p := range l.places {
		now, err := stateOf(p.path)
		if err != nil || (now.info == nil) != (p.info == nil) {
			return false
		}
		if p.info != nil && (!now.info.ModTime().Equal(p.info.ModTime()) || now.info.Size() != p.info.Size() || !os.SameFile(now.info, p.info)) {
			return false
		}
	}
	return true
}

// maxListings is the number of lists that are kept in memory.
const maxListings = 8

// Listing returns the references whose names begin with prefix, like [Refs.List]. As long as they do not change, it returns the same
// list again, which costs one look at each directory. A mount asks for the list at each lookup.
func (r *Refs) Listing(prefix string) (*Listing, error) {
	return r.current(prefix, func() (*Listing, error) { return r.read(prefix) })
}

// listed returns a list in memory that is current and has the reference, if it exists, or nil.
func (r *Refs) listed(name string) *Listing {
	r.listing.Lock()
	defer r.listing.Unlock()
	for prefix, l := range r.listings {
		if strings.HasPrefix(name, prefix) && l.isCurrent(r) {
			return l
		}
	}
	return nil
}

// current returns the list with a key, which it reads if the references have changed since it was read last.
func (r *Refs) current(key string, read func() (*Listing, error)) (*Listing, error) {
	r.listing.Lock()
	defer r.listing.Unlock()
	if l := r.listings[key]; l != nil && l.isCurrent(r) {
		return l, nil
	}
	delete(r.listings, key)
	began := time.Now()
	l, err := read()
	if err == nil && l.isSettled(began) {
		if r.listings == nil || len(r.listings) >= maxListings {
			r.listings = map[string]*Listing{}
		}
		r.listings[key] = l
	}
	return l, err
}
