package refdb

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// List returns the references whose names begin with prefix, sorted by the bytes of their names. It omits damaged and
// symbolic references, which [Refs.Damaged] reports. prefix must begin with "refs/"; otherwise List returns
// [domarkx.ErrInvalid].
func (r *Refs) List(prefix string) ([]Ref, error) {
	l, err := r.Listing(prefix)
	if err != nil {
		return nil, err
	}
	return slices.Clone(l.Refs), nil
}

// Damaged returns an error for each loose reference whose name begins with prefix and whose file does not contain an
// object id: [domarkx.ErrUnsupported] for a symbolic reference, otherwise [domarkx.ErrCorrupt].
func (r *Refs) Damaged(prefix string) ([]*Damage, error) {
	l, err := r.Listing(prefix)
	if err != nil {
		return nil, err
	}
	return slices.Clone(l.damaged), nil
}

func (r *Refs) read(prefix string) (*Listing, error) {
	if r.git.Reftable {
		return r.listTables(prefix)
	}
	dir := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if dir == "" || checkName(dir+"x") != nil {
		return nil, badName(prefix)
	}
	// Loose references are read first. Those that a concurrent git pack-refs removes before they are read are already in
	// packed-refs.
	l := &Listing{}
	if err := r.walk(dir, prefix, l); err != nil {
		return nil, fmt.Errorf("listing references: %w", err)
	}
	state, err := stateOf(r.path("packed-refs"))
	if err != nil {
		return nil, fmt.Errorf("listing references: %w", err)
	}
	l.places = append(l.places, state)
	packed, err := r.listPacked(prefix)
	if err != nil {
		return nil, err
	}
	l.Refs = merge(l.Refs, packed)
	if len(l.damaged) == 0 {
		return l, nil
	}
	// A damaged loose reference hides a packed one of the same name.
	bad := map[string]bool{}
	for _, d := range l.damaged {
		bad[d.Name] = true
	}
	l.Refs = slices.DeleteFunc(l.Refs, func(ref Ref) bool { return bad[ref.Name] })
	return l, nil
}

// A Damage is the error of a damaged reference.
type Damage struct {
	Name string
	Err  error
}

func (d *Damage) Error() string { return d.Err.Error() }
func (d *Damage) Unwrap() error { return d.Err }

// walk adds the loose references below a directory ("refs/…/") whose names begin with prefix to a list, and errors for
// the damaged ones.
func (r *Refs) walk(dir, prefix string, l *Listing) error {
	state, err := stateOf(r.path(dir))
	if err != nil {
		return err
	}
	l.places = append(l.places, state)
	entries, err := readDir(r.path(dir))
	if errors.Is(err, fs.ErrNotExist) || isNoFile(err) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := dir + entry.Name()
		if entry.IsDir() {
			if below := name + "/"; strings.HasPrefix(below, prefix) || strings.HasPrefix(prefix, below) {
				if err := r.walk(below, prefix, l); err != nil {
					return err
				}
			}
			continue
		}
		if !strings.HasPrefix(name, prefix) || checkName(name) != nil {
			continue // not a reference: for example, a lock file
		}
		id, ok, err := r.readLoose(name)
		switch {
		case errors.Is(err, domarkx.ErrCorrupt), errors.Is(err, domarkx.ErrUnsupported):
			l.damaged = append(l.damaged, &Damage{name, err})
		case err != nil:
			return err
		case ok:
			l.Refs = append(l.Refs, Ref{name, id})
		}
	}
	return nil
}

// readDir is like [os.ReadDir], but does not sort.
func readDir(path string) ([]fs.DirEntry, error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.ReadDir(-1)
}

// merge joins two lists, the second one sorted; loose references replace packed ones of the same name.
func merge(loose, packed []Ref) []Ref {
	if len(loose) == 0 {
		return packed
	}
	all := append(loose, packed...)
	slices.SortStableFunc(all, func(a, b Ref) int { return cmp.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b Ref) bool { return a.Name == b.Name })
}
