package main

import (
	"context"
	"io"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore"
)

// sessionStore is the repository as the engine wants it.
type sessionStore struct {
	*gitstore.Store
	warn func(error) // told of what is left alone
}

// Update hands the store's transaction to the engine.
func (s sessionStore) Update(ctx context.Context, reason string, fn func(engine.Tx) error) error {
	return s.Store.Update(ctx, reason, func(tx *gitstore.Tx) error { return fn(sessionTx{tx}) })
}

// Origin returns the foreign document of a tree.
func (s sessionStore) Origin(ctx context.Context, tree string) (engine.Origin, error) {
	return origin(s.Store.Origin(ctx, tree))
}

// sessionTx is a transaction as the engine wants it.
type sessionTx struct{ *gitstore.Tx }

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
