package gitstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A Tx is a transaction of [Store.Update]. Its reads see its own changes. Only one goroutine may use it at a time, and only until
// the function that got it returns.
type Tx struct {
	snapshot.Builder

	ctx   context.Context // of the update
	store *Store
	seen  map[string]string // ref → its value when the transaction first read it, "" for none
	next  map[string]string // ref → its new value, "" to remove it

	names    map[refname.Kind]*refname.Index // existing names; loaded when one is first needed
	removed  map[string]string               // name → time in its ref in the trash
	restored map[string]string               // name → time in the trash ref from which it was restored
}

func newTx(ctx context.Context, s *Store, batch *odb.Batch) *Tx {
	return &Tx{Builder: snapshot.NewBuilder(s.Reader, batch), ctx: ctx, store: s, seen: map[string]string{}, next: map[string]string{},
		names: map[refname.Kind]*refname.Index{}, removed: map[string]string{}, restored: map[string]string{}}
}

// ref returns the value of a ref within the transaction, or "" if it does not exist.
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

// move sets the value of a ref within the transaction; "" removes it.
func (tx *Tx) move(ref, id string) error {
	if _, err := tx.ref(ref); err != nil {
		return err
	}
	tx.next[ref] = id
	return nil
}

// refChanges returns the changes of the transaction, sorted by ref.
func (tx *Tx) refChanges() []refdb.Change {
	var changes []refdb.Change
	for _, ref := range slices.Sorted(maps.Keys(tx.next)) {
		if old, now := tx.seen[ref], tx.next[ref]; old != now {
			changes = append(changes, refdb.Change{Ref: ref, Old: old, New: now})
		}
	}
	return changes
}

// tip returns the tip of a session or workspace within the transaction. It returns [domarkx.ErrNotFound] if the name does not
// exist.
func (tx *Tx) tip(k refname.Kind, name string) (string, error) {
	id, err := tx.ref(k.Ref(name))
	if err != nil {
		return "", k.Misspelled(name, err)
	}
	if id == "" {
		return "", tx.store.notFound(k, name)
	}
	return id, nil
}

// Tip is like [Store.Tip], within the transaction.
func (tx *Tx) Tip(ctx context.Context, name string) (domarkx.Info, error) {
	if err := tx.store.blocked[name]; err != nil {
		return domarkx.Info{}, err
	}
	id, err := tx.tip(refname.Sessions, name)
	if err != nil {
		return domarkx.Info{}, err
	}
	return tx.NamedInfo(ctx, name, id)
}

// Set creates a session at the snapshot id, or moves it there. It returns [domarkx.ErrConflict] if the snapshot does not descend
// from the session's tip. For a new session it returns the errors of [Tx.CheckName].
func (tx *Tx) Set(ctx context.Context, name, id string) error {
	if err := tx.store.blocked[name]; err != nil {
		return err
	}
	if _, err := tx.NamedInfo(ctx, name, id); err != nil {
		return err
	}
	return tx.set(refname.Sessions, name, id, func(tip string) (bool, error) {
		if _, err := tx.NamedInfo(ctx, name, tip); err != nil {
			return false, err
		}
		return tx.IsAncestor(ctx, tip, id)
	})
}

// set creates a session or workspace at a commit, or moves it there if ahead reports that the commit descends from its tip.
func (tx *Tx) set(k refname.Kind, name, id string, ahead func(tip string) (bool, error)) error {
	tip, err := tx.ref(k.Ref(name))
	if err != nil {
		return k.Misspelled(name, err)
	}
	if tip == "" {
		if err := tx.take(k, name); err != nil {
			return err
		}
		return tx.move(k.Ref(name), id)
	}
	ok, err := ahead(tip)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("%s %q: %w: its tip %s is not an ancestor of %s", k.Noun, name, domarkx.ErrConflict, tip, id)
	}
	return tx.move(k.Ref(name), id)
}

// Rename renames a session, whose snapshots do not change. It returns [domarkx.ErrNotFound] if from does not
// exist, and for to the errors of [Tx.CheckName].
func (tx *Tx) Rename(_ context.Context, from, to string) error {
	for _, name := range []string{from, to} {
		if err := tx.store.blocked[name]; err != nil {
			return err
		}
	}
	return tx.rename(refname.Sessions, from, to)
}

func (tx *Tx) rename(k refname.Kind, from, to string) error {
	id, err := tx.tip(k, from)
	if err != nil || from == to {
		return err
	}
	names, err := tx.taken(k)
	if err != nil {
		return err
	}
	names.Remove(from)
	if err := tx.take(k, to); err != nil {
		names.Add(from)
		return err
	}
	return errors.Join(tx.move(k.Ref(from), ""), tx.move(k.Ref(to), id))
}
