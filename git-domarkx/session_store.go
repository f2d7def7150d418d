package main

import (
	"context"
	"io"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore"
)

// sessionStore adapts the repository to the engine.
type sessionStore struct {
	*gitstore.Store
	warn    func(error) // called with each thing that is skipped
	pending pendingSaves
}

// pendingSaves maps sessions to their saves in mounts that are not snapshots yet.
type pendingSaves map[string]*engine.PendingError

// check returns an error if one of the sessions has a pending save.
func (p pendingSaves) check(names ...string) error {
	for _, name := range names {
		if err, ok := p[name]; ok {
			return err
		}
	}
	return nil
}

// Tip returns the newest snapshot of a session.
func (s sessionStore) Tip(ctx context.Context, name string) (domarkx.Info, error) {
	if err := s.pending.check(name); err != nil {
		return domarkx.Info{}, err
	}
	return s.Store.Tip(ctx, name)
}

// Update runs fn in a transaction of the store.
func (s sessionStore) Update(ctx context.Context, reason string, fn func(engine.Tx) error) error {
	return s.Store.Update(ctx, reason, func(tx *gitstore.Tx) error { return fn(sessionTx{tx, s.pending}) })
}

// Origin returns the foreign document that a tree was imported from.
func (s sessionStore) Origin(ctx context.Context, tree string) (engine.Origin, error) {
	return origin(s.Store.Origin(ctx, tree))
}

// sessionTx adapts a transaction to the engine.
type sessionTx struct {
	*gitstore.Tx
	pending pendingSaves
}

// Tip returns the newest snapshot of a session.
func (tx sessionTx) Tip(ctx context.Context, name string) (domarkx.Info, error) {
	if err := tx.pending.check(name); err != nil {
		return domarkx.Info{}, err
	}
	return tx.Tx.Tip(ctx, name)
}

// Set points a session at a snapshot.
func (tx sessionTx) Set(ctx context.Context, name, id string) error {
	if err := tx.pending.check(name); err != nil {
		return err
	}
	return tx.Tx.Set(ctx, name, id)
}

// Rename changes the name of a session.
func (tx sessionTx) Rename(ctx context.Context, from, to string) error {
	if err := tx.pending.check(from, to); err != nil {
		return err
	}
	return tx.Tx.Rename(ctx, from, to)
}

// ToTrash moves a session to the trash.
func (tx sessionTx) ToTrash(ctx context.Context, name string) error {
	if err := tx.pending.check(name); err != nil {
		return err
	}
	return tx.Tx.ToTrash(ctx, name)
}

// FromTrash restores the most recently removed session of that name.
func (tx sessionTx) FromTrash(ctx context.Context, name string) (domarkx.Info, error) {
	if err := tx.pending.check(name); err != nil {
		return domarkx.Info{}, err
	}
	return tx.Tx.FromTrash(ctx, name)
}

// Origin returns the foreign document that a tree was imported from.
func (tx sessionTx) Origin(ctx context.Context, tree string) (engine.Origin, error) {
	return origin(tx.Tx.Origin(ctx, tree))
}

// BeginOrigin starts storing a foreign document.
func (tx sessionTx) BeginOrigin(format string, content io.Reader, sha256 [32]byte) (engine.OriginWriter, error) {
	return tx.Tx.BeginOrigin(format, content, sha256)
}

func origin(o *gitstore.Origin, err error) (engine.Origin, error) {
	if err != nil {
		return engine.Origin{}, err
	}
	return engine.Origin{Format: o.Format, Conversation: o.Conversation, Size: o.Size, Open: o.Open}, nil
}
