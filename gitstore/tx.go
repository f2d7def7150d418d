package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// A Tx is a running [Store.Update]. It reads like the store, and also what it
// made itself. It is for one goroutine, and only until the function returns.
type Tx struct {
	builder
	store *Store
	seen  map[string]string // ref -> its id when first looked at, "" for none
	next  map[string]string // ref -> its new id, "" for none
	names *nameIndex        // nil until a new name is taken
}

func newTx(s *Store, batch *odb.Batch) *Tx {
	r := reader{db: s.db, shallow: s.shallow, fresh: map[odb.ID]freshObject{}}
	return &Tx{builder: builder{reader: r, batch: batch}, store: s, seen: map[string]string{}, next: map[string]string{}}
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

// Tip is like [Store.Tip], within the transaction: when the session moves on
// before the transaction ends, that fails with [domarkx.ErrConflict].
func (tx *Tx) Tip(ctx context.Context, name string) (domarkx.Info, error) {
	id, err := tx.ref(SessionRef(name))
	if err != nil {
		return domarkx.Info{}, misspelled(name, err)
	}
	if id == "" {
		return domarkx.Info{}, tx.store.notFound(name)
	}
	return tx.named(ctx, name, id)
}

// Set moves a session to a snapshot that has its tip among its ancestors, or makes
// the session. A snapshot that does not descend from the tip is
// [domarkx.ErrConflict]; a new name can be [domarkx.ErrInvalid] ([CheckName]), or
// [domarkx.ErrExists] when it clashes with another session's.
func (tx *Tx) Set(ctx context.Context, name, id string) error {
	if _, err := tx.named(ctx, name, id); err != nil {
		return err
	}
	tip, err := tx.ref(SessionRef(name))
	if err != nil {
		return err
	}
	if tip == "" {
		if err := tx.take(ctx, name); err != nil {
			return err
		}
		return tx.move(SessionRef(name), id)
	}
	if _, err := tx.named(ctx, name, tip); err != nil {
		return err
	}
	ahead, err := tx.IsAncestor(ctx, tip, id)
	if err != nil {
		return err
	}
	if !ahead {
		return fmt.Errorf("session %q: %w: its tip %s is no ancestor of %s", name, domarkx.ErrConflict, tip, id)
	}
	return tx.move(SessionRef(name), id)
}

// CheckName reports whether a new session can have that name: one that none can
// have is [domarkx.ErrInvalid], see [CheckName], and one that clashes with that of
// another session, also by case or as a folder, is [domarkx.ErrExists].
func (tx *Tx) CheckName(_ context.Context, name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if err := tx.readNames(); err != nil {
		return err
	}
	return tx.names.check(name)
}

// take checks that a new session can have that name, and notes that it has.
func (tx *Tx) take(ctx context.Context, name string) error {
	if err := tx.CheckName(ctx, name); err != nil {
		return err
	}
	tx.names.add(name)
	return nil
}

func (tx *Tx) readNames() error {
	if tx.names != nil {
		return nil
	}
	refs, err := tx.store.refs.List(sessionPrefix)
	if err != nil {
		return err
	}
	names := newNameIndex()
	for _, ref := range refs {
		if id, ok := tx.next[ref.Name]; !ok || id != "" {
			names.add(sessionName(ref.Name))
		}
	}
	for ref, id := range tx.next {
		if id != "" && len(ref) > len(sessionPrefix) && ref[:len(sessionPrefix)] == sessionPrefix {
			names.add(sessionName(ref))
		}
	}
	tx.names = names
	return nil
}

// drop notes that a name is free.
func (tx *Tx) drop(name string) {
	if tx.names != nil {
		tx.names.remove(name)
	}
}

// Rename gives a session another name. Its snapshots stay as they are.
func (tx *Tx) Rename(ctx context.Context, from, to string) error {
	tip, err := tx.Tip(ctx, from)
	if err != nil {
		return err
	}
	if from == to {
		return nil
	}
	if err := tx.readNames(); err != nil {
		return err
	}
	tx.drop(from)
	if err := tx.take(ctx, to); err != nil {
		tx.names.add(from)
		return err
	}
	return errors.Join(tx.move(SessionRef(from), ""), tx.move(SessionRef(to), tip.ID))
}

// ToTrash moves a session into the trash.
func (tx *Tx) ToTrash(ctx context.Context, name string) error {
	id, err := tx.ref(SessionRef(name))
	if err != nil {
		return err
	}
	if id == "" {
		return tx.store.notFound(name)
	}
	for at := time.Now(); ; at = at.Add(time.Second) {
		ref := trashRef(name, at)
		there, err := tx.ref(ref)
		if err != nil {
			return err
		}
		if there != "" && there != id {
			continue
		}
		tx.drop(name)
		return errors.Join(tx.move(ref, id), tx.move(SessionRef(name), ""))
	}
}

// FromTrash brings back what was removed last under a name. Nothing there is
// [domarkx.ErrNotFound]; a session that has the name is [domarkx.ErrExists].
func (tx *Tx) FromTrash(ctx context.Context, name string) (domarkx.Info, error) {
	refs, err := tx.store.refs.List(trashPrefix + name + "@")
	if err != nil {
		return domarkx.Info{}, err
	}
	latest := ""
	for _, ref := range refs {
		if n, _, err := parseTrashRef(ref.Name); err == nil && n == name && ref.Name > latest {
			latest = ref.Name
		}
	}
	if latest == "" {
		return domarkx.Info{}, fmt.Errorf("session %q in the trash: %w", name, domarkx.ErrNotFound)
	}
	id, err := tx.ref(latest)
	if err != nil {
		return domarkx.Info{}, err
	}
	if err := tx.take(ctx, name); err != nil {
		return domarkx.Info{}, err
	}
	if err := errors.Join(tx.move(latest, ""), tx.move(SessionRef(name), id)); err != nil {
		return domarkx.Info{}, err
	}
	return tx.named(ctx, name, id)
}
