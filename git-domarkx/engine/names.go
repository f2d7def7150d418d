package engine

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// Fork makes a session out of a snapshot of another; with a message number it
// ends with that message.
func (m *SessionManager) Fork(ctx context.Context, r Revision, name string) (domarkx.Info, error) {
	from, err := m.Resolve(ctx, r)
	if err != nil {
		return domarkx.Info{}, err
	}
	author, committer, err := m.around.Identity(ctx)
	if err != nil {
		return domarkx.Info{}, err
	}
	c := change{name: name, operation: "fork", author: author, committer: committer}
	fork := from
	err = m.update(ctx, "fork "+r.String()+" "+name, func(tx Tx) error {
		if err := tx.CheckName(ctx, name); err != nil {
			return err
		}
		if r.Message >= 0 && r.Message < from.Messages-1 {
			state, err := m.store.Load(ctx, from.ID)
			if err != nil {
				return err
			}
			state.Thread = *state.Thread.Truncate(r.Message + 1)
			if fork, err = m.continueWith(ctx, tx, from, state, c, fmt.Sprintf("fork %s from %s", name, r)); err != nil {
				return err
			}
		}
		return tx.Set(ctx, name, fork.ID)
	})
	fork.Name = name
	return fork, err
}

// continueWith commits a state that continues a snapshot.
func (m *SessionManager) continueWith(ctx context.Context, tx Tx, parent domarkx.Info, state *domarkx.State, c change, subject string) (domarkx.Info, error) {
	owned, err := m.ownedHeaders(ctx, state.Headers)
	if err != nil {
		return domarkx.Info{}, err
	}
	if owned != nil {
		state.Headers = owned
	}
	if err := m.keepWorkspace(ctx, tx, state); err != nil {
		return domarkx.Info{}, err
	}
	commit, err := m.commitOf(ctx, tx, state, c, subject)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Parents = []string{parent.ID}
	return tx.Commit(ctx, commit)
}

// Rewind makes a snapshot on top of a session that holds what an earlier one
// held, or the messages up to and including one. It returns the new snapshot and
// the one before it, with which another rewind undoes this one.
func (m *SessionManager) Rewind(ctx context.Context, r Revision) (now, before domarkx.Info, err error) {
	author, committer, err := m.around.Identity(ctx)
	if err != nil {
		return now, before, err
	}
	c := change{name: r.Name, operation: "rewind", author: author, committer: committer}
	err = m.update(ctx, "rewind "+r.String(), func(tx Tx) error {
		if before, err = m.store.Tip(ctx, r.Name); err != nil {
			return err
		}
		target, err := m.Resolve(ctx, r)
		if err != nil {
			return err
		}
		now = before
		if target.ID == before.ID && (r.Message < 0 || r.Message == before.Messages-1) {
			return nil
		}
		state, err := m.store.Load(ctx, before.ID)
		if err != nil {
			return err
		}
		wanted := state
		if target.ID != before.ID {
			if wanted, err = m.store.Load(ctx, target.ID); err != nil {
				return err
			}
		}
		if err := m.revert(ctx, state, wanted, r.Message); err != nil {
			return err
		}
		if now, err = m.continueWith(ctx, tx, before, state, c, "rewind to "+r.String()); err != nil {
			return err
		}
		return tx.Set(ctx, r.Name, now.ID)
	})
	now.Name, before.Name = r.Name, r.Name
	return now, before, err
}

// revert gives a state the headers and messages of another, the first n+1 of
// them where n is a message.
func (m *SessionManager) revert(ctx context.Context, state, wanted *domarkx.State, n int) error {
	thread := wanted.Thread
	if n >= 0 {
		thread.Live = thread.Live[:n+1]
	}
	state.Thread = *state.Thread.Revert(&thread)
	now, then := state.Headers[0], wanted.Headers[0]
	if len(wanted.Headers) == 1 && len(state.Headers) == 1 && then.Rev == now.Rev && (!then.Layout.Verbatim || then.Layout == now.Layout) {
		return nil
	}
	h, err := loadHeader(ctx, m.store, wanted.Headers)
	if err != nil {
		return err
	}
	if len(wanted.Headers) > 1 { // as it was shown, the conflict is text
		then.JSON = domarkx.Blob{Data: prettyJSON(h.Value())}
		then.Layout, then.Source = markdown.WriteHeader(h).Layout, domarkx.Blob{}
	}
	state.Headers = domarkx.ReviseHeader(state.Headers, then, normalHeader(h))
	return nil
}

// Rename gives a session another name.
func (m *SessionManager) Rename(ctx context.Context, from, to string) (domarkx.Info, error) {
	var info domarkx.Info
	err := m.update(ctx, "rename "+from+" "+to, func(tx Tx) error {
		var err error
		if info, err = tx.Tip(ctx, from); err != nil {
			return err
		}
		if err := tx.Rename(ctx, from, to); err != nil {
			return err
		}
		if err := m.rememberRenamed(from, renaming{To: to, Tip: info.ID}); err != nil {
			return err
		}
		return m.sourceRenamed(from, to)
	})
	info.Name = to
	return info, err
}

// Remove moves a session to the trash.
func (m *SessionManager) Remove(ctx context.Context, name string) (domarkx.Info, error) {
	var info domarkx.Info
	err := m.update(ctx, "rm "+name, func(tx Tx) error {
		var err error
		if info, err = tx.Tip(ctx, name); err != nil {
			return err
		}
		return tx.ToTrash(ctx, name)
	})
	info.Name = name
	return info, err
}

// Restore takes the session that was removed last under a name out of the trash.
func (m *SessionManager) Restore(ctx context.Context, name string) (domarkx.Info, error) {
	var info domarkx.Info
	err := m.update(ctx, "restore "+name, func(tx Tx) error {
		var err error
		info, err = tx.FromTrash(ctx, name)
		return err
	})
	info.Name = name
	return info, err
}
