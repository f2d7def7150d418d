package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// A Tx is a transaction of [Store.Update]. It also reads its own changes. It must be used by one
// goroutine, and only until the function returns.
type Tx struct {
	snapshot.Builder

	ctx   context.Context // of the update
	store *Store
	seen  map[string]string // ref → its id when it was read first, "" for none
	next  map[string]string // ref → its new id, "" for none

	names    map[refname.Kind]*refname.Index // loaded for the first new name
	removed  map[string]string               // name → time in its trash ref
	restored map[string]string               // name → time in its former trash ref
}

func newTx(ctx context.Context, s *Store, batch *odb.Batch) *Tx {
	tx := &Tx{Builder: snapshot.NewBuilder(s.Reader, batch), ctx: ctx, store: s, seen: map[string]string{}, next: map[string]string{},
		names: map[refname.Kind]*refname.Index{}, removed: map[string]string{}, restored: map[string]string{}}
	if s.answers != nil {
		tx.OnAnswer(s.answers.Add)
	}
	return tx
}

// ref returns the value of a ref within the transaction, "" for none.
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

// move sets the value of a ref, "" to remove it.
func (tx *Tx) move(ref, id string) error {
	if _, err := tx.ref(ref); err != nil {
		return err
	}
	tx.next[ref] = id
	return nil
}

// refChanges returns the changed refs, sorted by name.
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

// tip returns the commit of a name; a missing one is [domarkx.ErrNotFound].
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

// Tip is [Store.Tip] within the transaction: if the session moves before the transaction ends, the
// transaction fails with [domarkx.ErrConflict].
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

// Set creates a session, or moves it to a snapshot that descends from its tip. Otherwise the error is
// [domarkx.ErrConflict]. A new name can be [domarkx.ErrInvalid] (see [refname.Kind.Check]) or, if it clashes with that
// of another session, [domarkx.ErrExists].
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

// set creates a name, or moves it to a commit if ahead reports that it descends from the tip.
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

// Rename renames a session. Its snapshots do not change.
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
