package main

import (
	"context"
	"io"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore"
)

// sessionStore is the repository as the engine wants it.
type sessionStore struct {
	*gitstore.Store
	warn    func(error) // told of what is left alone
	pending pendingSaves
}

// pendingSaves are the saves of mounts that are not in their sessions yet, by session.
type pendingSaves map[string]*engine.PendingError

// check returns an error when one of the sessions has such a save.
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

// Update hands the store's transaction to the engine.
func (s sessionStore) Update(ctx context.Context, reason string, fn func(engine.Tx) error) error {
	return s.Store.Update(ctx, reason, func(tx *gitstore.Tx) error { return fn(sessionTx{tx, s.pending}) })
}

// Origin returns the foreign document of a tree.
func (s sessionStore) Origin(ctx context.Context, tree string) (engine.Origin, error) {
	return origin(s.Store.Origin(ctx, tree))
}

// sessionTx is a transaction as the engine wants it.
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

// Rename gives a session another name.
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

// FromTrash takes the session that was removed last out of the trash.
func (tx sessionTx) FromTrash(ctx context.Context, name string) (domarkx.Info, error) {
	if err := tx.pending.check(name); err != nil {
		return domarkx.Info{}, err
	}
	return tx.Tx.FromTrash(ctx, name)
}

// Origin returns the foreign document of a tree.
func (tx sessionTx) Origin(ctx context.Context, tree string) (engine.Origin, error) {
	return origin(tx.Tx.Origin(ctx, tree))
}

// BeginOrigin begins to store a foreign document.
func (tx sessionTx) BeginOrigin(format string, content io.Reader, sha256 [32]byte) (engine.OriginWriter, error) {
	return tx.Tx.BeginOrigin(format, content, sha256)
}

func origin(o *gitstore.Origin, err error) (engine.Origin, error) {
	if err != nil {
		return engine.Origin{}, err
	}
	return engine.Origin{Format: o.Format, Conversation: o.Conversation, Size: o.Size, Open: o.Open}, nil
}
