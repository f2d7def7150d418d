package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// A Tx is a running [Store.Update]. It reads like the store, and also what it
// made itself. It is for one goroutine, and only until the function returns.
type Tx struct {
	builder
	ctx   context.Context // of the update
	store *Store
	seen  map[string]string // ref -> its id when first looked at, "" for none
	next  map[string]string // ref -> its new id, "" for none

	passed map[string]bool // the trees of conversations of which nothing was kept to be read

	names    map[kind]*nameIndex // read when a new name is taken
	removed  map[string]string   // name -> the time that its trash ref names
	restored map[string]string   // name -> the time that its trash ref named
}

func newTx(ctx context.Context, s *Store, batch *odb.Batch) *Tx {
	r := reader{db: s.db, shallow: s.shallow, fresh: map[odb.ID]freshObject{}, sizes: map[odb.ID]int64{}}
	return &Tx{builder: builder{reader: r, batch: batch}, ctx: ctx, store: s, seen: map[string]string{}, next: map[string]string{}, passed: map[string]bool{},
		names: map[kind]*nameIndex{}, removed: map[string]string{}, restored: map[string]string{}}
}

// ref returns what a ref points at within the transaction, "" for nothing.
func (tx *Tx) ref(name string) (string, error) {
	if id, ok := tx.next[name]; ok {
		return id, nil
	}
	if id, ok := tx.seen[name]; ok {
		return id, nil
	}
	id, ok, err := tx.store.refs.Read(name)
	if err != nil {
		return "", err
	}
	if !ok {
		id = ""
	} else if tx.store.isMissing(id) {
		if id, _, err = tx.store.rollBack(tx.ctx, name); err != nil {
			return "", err
		}
	}
	tx.seen[name] = id
	return id, nil
}

// move lets a ref point at another commit, "" for none.
func (tx *Tx) move(ref, id string) error {
	if _, err := tx.ref(ref); err != nil {
		return err
	}
	tx.next[ref] = id
	return nil
}

// refChanges returns what is different in the end, in order of name.
func (tx *Tx) refChanges() []refdb.Change {
	var changes []refdb.Change
	for ref, id := range tx.next {
		if old := tx.seen[ref]; old != id {
			changes = append(changes, refdb.Change{Ref: ref, Old: old, New: id})
		}
	}
	slices.SortFunc(changes, func(a, b refdb.Change) int {
		if a.Ref < b.Ref {
			return -1
		}
		return 1
	})
	return changes
}

// tip returns what a name of a kind stands for; none is [domarkx.ErrNotFound].
func (tx *Tx) tip(k kind, name string) (string, error) {
	id, err := tx.ref(k.ref(name))
	if err != nil {
		return "", k.misspelled(name, err)
	}
	if id == "" {
		return "", tx.store.notFound(k, name)
	}
	return id, nil
}

// Tip is like [Store.Tip], within the transaction: when the session moves on
// before the transaction ends, that fails with [domarkx.ErrConflict].
func (tx *Tx) Tip(ctx context.Context, name string) (domarkx.Info, error) {
	if err := tx.store.blocked[name]; err != nil {
		return domarkx.Info{}, err
	}
	id, err := tx.tip(sessions, name)
	if err != nil {
		return domarkx.Info{}, err
	}
	return tx.named(ctx, name, id)
}

// Set moves a session to a snapshot that has its tip among its ancestors, or makes
// the session. A snapshot that does not descend from the tip is
// [domarkx.ErrConflict]; a new name can be [domarkx.ErrInvalid] ([CheckName]), or
// [domarkx.ErrExists] when it clashes with another session's.
func (tx *Tx) Set(ctx context.Context, name, id string) error {
	if err := tx.store.blocked[name]; err != nil {
		return err
	}
	if _, err := tx.named(ctx, name, id); err != nil {
		return err
	}
	return tx.set(sessions, name, id, func(tip string) (bool, error) {
		if _, err := tx.named(ctx, name, tip); err != nil {
			return false, err
		}
		return tx.IsAncestor(ctx, tip, id)
	})
}

// set moves a name to a commit that is ahead of its tip, or takes the name.
func (tx *Tx) set(k kind, name, id string, ahead func(tip string) (bool, error)) error {
	tip, err := tx.ref(k.ref(name))
	if err != nil {
		return k.misspelled(name, err)
	}
	if tip == "" {
		if err := tx.take(k, name); err != nil {
			return err
		}
		return tx.move(k.ref(name), id)
	}
	ok, err := ahead(tip)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s %q: %w: its tip %s is no ancestor of %s", k.noun, name, domarkx.ErrConflict, tip, id)
	}
	return tx.move(k.ref(name), id)
}

// Rename gives a session another name. Its snapshots stay as they are.
func (tx *Tx) Rename(_ context.Context, from, to string) error {
	for _, name := range []string{from, to} {
		if err := tx.store.blocked[name]; err != nil {
			return err
		}
	}
	return tx.rename(sessions, from, to)
}

func (tx *Tx) rename(k kind, from, to string) error {
	id, err := tx.tip(k, from)
	if err != nil || from == to {
		return err
	}
	names, err := tx.taken(k)
	if err != nil {
		return err
	}
	names.remove(from)
	if err := tx.take(k, to); err != nil {
		names.add(from)
		return err
	}
	return errors.Join(tx.move(k.ref(from), ""), tx.move(k.ref(to), id))
}
