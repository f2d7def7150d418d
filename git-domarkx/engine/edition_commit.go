package engine

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

// commitEdition commits an edition on its base. If the session's tip is another snapshot, it
// merges both. It keeps only a few messages of a long conversation in memory.
func (m *SessionManager) commitEdition(ctx context.Context, tx *gitstore.Tx, e *edition, c Change) (SaveResult, error) {
	tip, err := tx.Tip(ctx, c.Name)
	switch {
	case errors.Is(err, domarkx.ErrNotFound):
		if err := tx.CheckName(ctx, c.Name); err != nil {
			return SaveResult{}, err
		}
	case err != nil:
		return SaveResult{}, err
	}
	next, err := e.next(ctx, tx)
	if err != nil {
		return SaveResult{}, err
	}
	if !next.changed && len(e.files) == 0 && tip.ID != "" {
		return SaveResult{Info: tip, Document: c.base}, nil
	}
	merges := tip.ID != "" && tip.ID != c.base
	info, state, err := m.commitSuccessor(ctx, tx, e, next, c, merges)
	if err != nil {
		return SaveResult{}, err
	}
	saved := SaveResult{Info: info, Changed: true, Merged: merges, Document: info.ID, state: state, before: tip}
	saved.grows = !merges && len(next.headers) == 1 && len(next.dead()) == 0
	if merges {
		theirs, err := m.store.Load(ctx, tip.ID)
		if err != nil {
			return SaveResult{}, err
		}
		if saved.Info, err = m.Merge(ctx, tx, MergeSide{tip, theirs}, MergeSide{info, state}); err != nil {
			return SaveResult{}, err
		}
	}
	if e.verify != nil {
		if err := e.verify(); err != nil {
			return SaveResult{}, err
		}
	}
	saved.Name = c.Name
	return saved, tx.Set(ctx, c.Name, saved.ID)
}

// commitSuccessor commits the next state of a session. It also returns the state if that is small
// or if wanted is set, and nil otherwise.
func (m *SessionManager) commitSuccessor(ctx context.Context, tx *gitstore.Tx, e *edition, next successor, c Change, wanted bool) (domarkx.Info, *domarkx.State, error) {
	commit := domarkx.Commit{State: &domarkx.State{Headers: next.headers}, Operation: c.Operation, Subject: subject(c, e),
		Author: c.Author, Committer: c.Committer, Attachments: e.attachments, Files: e.files}
	if c.base != "" {
		commit.Parents = []string{c.base}
	}
	t := view.Stats{Ctx: ctx, Blobs: tx, Headers: next.headers, Keeps: true, Room: view.MaxKept}
	if wanted {
		t.Room = -1
	}
	live := next.live
	if e.original != nil {
		live = e.original.along(ctx, live)
	}
	var err error
	if commit.Conversation, err = tx.StoreConversation(ctx, commit.Parents, e.sharing(t.Through(live))); err != nil {
		return domarkx.Info{}, nil, err
	}
	if e.original != nil {
		if e.origin, err = e.original.finish(ctx); err != nil {
			return domarkx.Info{}, nil, err
		}
		if commit.State.Headers, _, err = e.headers(ctx, tx); err != nil { // the revision of the header depends on the original
			return domarkx.Info{}, nil, err
		}
	}
	if commit.Bytes, err = t.Size(); err != nil {
		return domarkx.Info{}, nil, err
	}
	commit.Preview, commit.State.Thread.Dead = t.Preview, next.dead()
	commit.Parents = append(commit.Parents, e.newLinks...)
	info, err := tx.Commit(ctx, commit)
	if err != nil || !t.Keeps {
		return info, nil, err
	}
	state := commit.State
	for _, entry := range t.Kept {
		state.Thread.Live = append(state.Thread.Live, *entry)
	}
	return info, state, nil
}
