package gitstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// ToTrash moves a session to the trash. It returns [domarkx.ErrNotFound] if the session does not exist.
func (tx *Tx) ToTrash(_ context.Context, name string) error {
	if err := tx.store.blocked[name]; err != nil {
		return err
	}
	return tx.toTrash(refname.Sessions, name)
}

// toTrash moves a session or workspace to the trash. If both of the same name are removed in one transaction, their refs in the
// trash get the same time, so that they can be restored together.
func (tx *Tx) toTrash(k refname.Kind, name string) error {
	id, err := tx.tip(k, name)
	if err != nil {
		return err
	}
	at, ok := tx.removed[name]
	if !ok {
		if at, err = tx.freeTime(name, refname.Sessions.Trash, refname.Workspaces.Trash); err != nil {
			return err
		}
		tx.removed[name] = at
	}
	tx.drop(k, name)
	return errors.Join(tx.move(k.Trash+name+"@"+at, id), tx.move(k.Ref(name), ""))
}

// freeTime returns the time for a ref in the trash: the present second, or the first later one for which the name has no ref
// below any of the prefixes.
func (tx *Tx) freeTime(name string, prefixes ...string) (string, error) {
	for at := time.Now().UTC(); ; at = at.Add(time.Second) {
		text, free := at.Format(refname.TrashTime), true
		for _, prefix := range prefixes {
			there, err := tx.ref(prefix + name + "@" + text)
			if err != nil {
				return "", err
			}
			free = free && there == ""
		}
		if free {
			return text, nil
		}
	}
}

// FromTrash restores the session with that name that was removed last. It returns [domarkx.ErrNotFound] if the trash has none,
// and [domarkx.ErrExists] if the name exists again.
func (tx *Tx) FromTrash(ctx context.Context, name string) (domarkx.Info, error) {
	if err := tx.store.blocked[name]; err != nil {
		return domarkx.Info{}, err
	}
	id, err := tx.fromTrash(refname.Sessions, name, "")
	if err != nil {
		return domarkx.Info{}, err
	}
	return tx.NamedInfo(ctx, name, id)
}

// fromTrash restores a session or workspace from the trash, and returns its tip: the one that was removed at the given time, or
// last if at is "".
func (tx *Tx) fromTrash(k refname.Kind, name, at string) (string, error) {
	refs, err := tx.store.refs.List(k.Trash + name + "@" + at)
	if err != nil {
		return "", err
	}
	latest, when := "", ""
	for _, ref := range refs {
		if n, t, err := k.ParseTrash(ref.Name); err == nil && n == name && ref.Name > latest {
			latest, when = ref.Name, t.Format(refname.TrashTime)
		}
	}
	if latest == "" {
		return "", fmt.Errorf("%s %q in the trash: %w; git for-each-ref refs/domarkx-trash lists what is there", k.Noun, name, domarkx.ErrNotFound)
	}
	id, err := tx.ref(latest)
	if err != nil {
		return "", err
	}
	if err := tx.take(k, name); err != nil {
		return "", err
	}
	tx.restored[name] = when
	return id, errors.Join(tx.move(latest, ""), tx.move(k.Ref(name), id))
}
