package gitstore

import (
	"context"
	"strings"

	"github.com/domarkx/domarkx/gitstore/refname"
)

// CheckName returns an error if a new session cannot have that name: [domarkx.ErrInvalid] if the name is invalid
// ([refname.Kind.Check]), and [domarkx.ErrExists] if it clashes with the name of another session ([refname.Index.Check]).
func (tx *Tx) CheckName(_ context.Context, name string) error {
	return tx.checkName(refname.Sessions, name)
}

func (tx *Tx) checkName(k refname.Kind, name string) error {
	if err := k.Check(name); err != nil {
		return err
	}
	names, err := tx.taken(k)
	if err != nil {
		return err
	}
	return names.Check(name)
}

// take checks a new name and adds it to the existing ones of the transaction.
func (tx *Tx) take(k refname.Kind, name string) error {
	if err := tx.checkName(k, name); err != nil {
		return err
	}
	tx.names[k].Add(name)
	return nil
}

// taken returns the names that exist within the transaction.
func (tx *Tx) taken(k refname.Kind) (*refname.Index, error) {
	if names := tx.names[k]; names != nil {
		return names, nil
	}
	refs, err := tx.store.refs.List(k.Prefix)
	if err != nil {
		return nil, err
	}
	names := refname.NewIndex(k)
	for _, ref := range refs {
		if _, ok := tx.next[ref.Name]; !ok {
			names.Add(k.Name(ref.Name))
		}
	}
	for ref, id := range tx.next {
		if id != "" && strings.HasPrefix(ref, k.Prefix) {
			names.Add(k.Name(ref))
		}
	}
	tx.names[k] = names
	return names, nil
}

// drop removes a name from the existing ones of the transaction.
func (tx *Tx) drop(k refname.Kind, name string) {
	if names := tx.names[k]; names != nil {
		names.Remove(name)
	}
}
