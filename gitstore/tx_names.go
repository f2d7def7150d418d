package gitstore

import (
	"context"
	"strings"
)

// CheckName reports whether a new session can have that name: one that none can
// have is [domarkx.ErrInvalid], see [CheckName], and one that clashes with that of
// another session, also by case or as a folder, is [domarkx.ErrExists].
func (tx *Tx) CheckName(_ context.Context, name string) error { return tx.checkName(sessions, name) }

func (tx *Tx) checkName(k kind, name string) error {
	if err := k.checkName(name); err != nil {
		return err
	}
	names, err := tx.taken(k)
	if err != nil {
		return err
	}
	return names.check(name)
}

// take checks that something new can have that name, and notes that it has.
func (tx *Tx) take(k kind, name string) error {
	if err := tx.checkName(k, name); err != nil {
		return err
	}
	tx.names[k].add(name)
	return nil
}

// taken returns the names that are taken within the transaction.
func (tx *Tx) taken(k kind) (*nameIndex, error) {
	if names := tx.names[k]; names != nil {
		return names, nil
	}
	refs, err := tx.store.refs.List(k.prefix)
	if err != nil {
		return nil, err
	}
	names := newNameIndex(k)
	for _, ref := range refs {
		if id, ok := tx.next[ref.Name]; !ok || id != "" {
			names.add(k.name(ref.Name))
		}
	}
	for ref, id := range tx.next {
		if id != "" && strings.HasPrefix(ref, k.prefix) {
			names.add(k.name(ref))
		}
	}
	tx.names[k] = names
	return names, nil
}

// drop notes that a name is free.
func (tx *Tx) drop(k kind, name string) {
	if names := tx.names[k]; names != nil {
		names.remove(name)
	}
}
