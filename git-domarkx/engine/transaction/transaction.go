// Package transaction is the one way into sessions and workspaces: everything that is added to them goes through a [Tx]. It
// replaces secrets in redacted sessions, keeps the numbers of new ones, and extends the trust in a session before it moves.
package transaction

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore"
)

// Updates makes the updates of a store. Several goroutines may use it at once.
type Updates struct {
	store    *gitstore.Store
	trust    *trust.Manager
	redactor Redactor
}

// New returns what updates a store.
func New(store *gitstore.Store, trust *trust.Manager, redactor Redactor) *Updates {
	return &Updates{store, trust, redactor}
}

// stored is the transaction of the store. Only this package can reach it, so nobody else can call the methods that [Tx] replaces.
type stored = gitstore.Tx

// A Tx is a transaction of [Updates.Update]. What stores content takes a [Filter], and what moves a session takes a [trust.Extension].
type Tx struct {
	*stored
	by      *Updates
	filters map[string]*sessionFilter // by session
	later   []func() error            // called after the update
}

// attempts is the maximum number of attempts of an update. Updates of this program exclude each
// other, so only plain Git commands cause conflicts.
const attempts = 100

// Update calls fn in an update of the store, see [gitstore.Store.Update], and retries on conflicts with other processes. If they
// persist, the error matches [domarkx.ErrConflict].
func (u *Updates) Update(ctx context.Context, reason string, fn func(*Tx) error) error {
	for n := 1; ; n++ {
		var tx *Tx
		err := u.store.Update(ctx, reason, func(inner *gitstore.Tx) error {
			tx = &Tx{stored: inner, by: u, filters: map[string]*sessionFilter{}}
			if err := fn(tx); err != nil {
				return err
			}
			return tx.remember(ctx)
		})
		if errors.Is(err, domarkx.ErrConflict) && ctx.Err() == nil && n < attempts {
			continue
		}
		for i := 0; err == nil && i < len(tx.later); i++ {
			err = tx.later[i]()
		}
		return err
	}
}

// Set creates a session at a snapshot, or moves it there, see [gitstore.Tx.Set]. Before, it extends the trust in the session, so that
// a process killed in between does not leave it untrusted.
func (tx *Tx) Set(ctx context.Context, name string, after domarkx.Info, extend trust.Extension) error {
	before, after, err := tx.move(ctx, name, after)
	if err != nil {
		return err
	}
	if err := extend(ctx, tx.by.trust, before, after); err != nil {
		return err
	}
	return tx.stored.Set(ctx, name, after.ID)
}

// SetMerged is like Set for a merge with a snapshot of this transaction. It extends the trust after the update, when the merged
// messages can be read.
func (tx *Tx) SetMerged(ctx context.Context, name string, after domarkx.Info, extend trust.Extension) error {
	before, after, err := tx.move(ctx, name, after)
	if err != nil {
		return err
	}
	tx.later = append(tx.later, func() error { return trust.NotExtended(name, extend(ctx, tx.by.trust, before, after)) })
	return tx.stored.Set(ctx, name, after.ID)
}

// move returns the newest snapshot of a session, which has no ID if the session does not exist, and the next one with its name.
func (tx *Tx) move(ctx context.Context, name string, to domarkx.Info) (before, after domarkx.Info, err error) {
	before, err = tx.TipOrNone(ctx, name)
	before.Name, to.Name = name, name
	return before, to, err
}

// TipOrNone returns the newest snapshot of a session, or one without an ID if the session does not exist.
func (tx *Tx) TipOrNone(ctx context.Context, name string) (domarkx.Info, error) {
	tip, err := tx.Tip(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return domarkx.Info{}, nil
	}
	return tip, err
}

// WorkspaceTipOrNone returns the newest version of a workspace, or one without an ID if the workspace does not exist.
func (tx *Tx) WorkspaceTipOrNone(ctx context.Context, name string) (domarkx.Version, error) {
	tip, err := tx.WorkspaceTip(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return domarkx.Version{}, nil
	}
	return tip, err
}

// Commit is [gitstore.Tx.Commit] for content that f has filtered.
func (tx *Tx) Commit(ctx context.Context, f Filter, c domarkx.Commit) (domarkx.Info, error) {
	if err := f.check(); err != nil {
		return domarkx.Info{}, fmt.Errorf("%s: %w", c.Subject, err)
	}
	return tx.stored.Commit(ctx, c)
}

// Append is [gitstore.Tx.Append] for content that f has filtered.
func (tx *Tx) Append(ctx context.Context, f Filter, c domarkx.Commit) (domarkx.Info, error) {
	if err := f.check(); err != nil {
		return domarkx.Info{}, fmt.Errorf("%s: %w", c.Subject, err)
	}
	return tx.stored.Append(ctx, c)
}
