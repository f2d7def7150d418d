package engine

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// CommitEdit commits an edition on its base. If the session's tip is another snapshot, it
// merges both. It keeps only a few messages of a long conversation in memory. f has filtered what the edition has.
func (m *SessionManager) CommitEdit(ctx context.Context, tx *transaction.Tx, f transaction.Filter, e *edit.Edit, c Change, extend trust.Extension) (SaveResult, error) {
	tip, err := tx.TipOrNone(ctx, c.Name)
	if err == nil && tip.ID == "" {
		err = tx.CheckName(ctx, c.Name)
	}
	if err != nil {
		return SaveResult{}, err
	}
	next, err := e.Next(ctx, tx)
	if err != nil {
		return SaveResult{}, err
	}
	if !next.Changed && len(e.Files) == 0 && tip.ID != "" {
		return SaveResult{Info: tip, Document: c.Base}, nil
	}
	merges := tip.ID != "" && tip.ID != c.Base
	info, state, err := m.commitNext(ctx, tx, f, e, next, c, merges)
	if err != nil {
		return SaveResult{}, err
	}
	saved := SaveResult{Info: info, Changed: true, Merged: merges, Document: info.ID, State: state, Before: tip}
	saved.Grows = !merges && len(next.Headers) == 1 && len(next.Dead()) == 0
	if merges {
		theirs, err := m.store.Load(ctx, tip.ID)
		if err != nil {
			return SaveResult{}, err
		}
		if saved.Info, err = m.Merge(ctx, tx, MergeSide{tip, theirs}, MergeSide{info, state}); err != nil {
			return SaveResult{}, err
		}
	}
	if e.Verify != nil {
		if err := e.Verify(); err != nil {
			return SaveResult{}, err
		}
	}
	saved.Name = c.Name
	if merges {
		return saved, tx.SetMerged(ctx, c.Name, saved.Info, extend)
	}
	return saved, tx.Set(ctx, c.Name, saved.Info, extend)
}

// commitNext commits the next state of a session. It also returns the state if that is small
// or if wanted is set, and nil otherwise.
func (m *SessionManager) commitNext(ctx context.Context, tx *transaction.Tx, f transaction.Filter, e *edit.Edit, next edit.NextState, c Change, wanted bool) (domarkx.Info, *domarkx.State, error) {
	commit := domarkx.Commit{State: &domarkx.State{Headers: next.Headers}, Operation: c.Operation, Subject: subject(c, e),
		Author: c.Author, Committer: c.Committer, Attachments: e.Attachments, Files: e.Files}
	if c.Base != "" {
		commit.Parents = []string{c.Base}
	}
	t := view.Stats{Ctx: ctx, Blobs: tx, Headers: next.Headers, Keeps: true, Room: view.MaxKept}
	if wanted {
		t.Room = -1
	}
	live := next.Live
	if e.Original != nil {
		live = e.Original.Along(ctx, live)
	}
	var err error
	if commit.Conversation, err = tx.StoreConversation(ctx, commit.Parents, e.Sharing(t.Through(live))); err != nil {
		return domarkx.Info{}, nil, err
	}
	if e.Original != nil {
		if e.Origin, err = e.Original.Finish(ctx); err != nil {
			return domarkx.Info{}, nil, err
		}
		if commit.State.Headers, _, err = e.Headers(ctx, tx); err != nil { // the revision of the header depends on the original
			return domarkx.Info{}, nil, err
		}
	}
	if commit.Bytes, err = t.Size(); err != nil {
		return domarkx.Info{}, nil, err
	}
	commit.Preview, commit.State.Thread.Dead = t.Preview, next.Dead()
	commit.Parents = append(commit.Parents, e.NewLinks...)
	info, err := tx.Commit(ctx, f, commit)
	if err != nil || !t.Keeps {
		return info, nil, err
	}
	state := commit.State
	for _, entry := range t.Kept {
		state.Thread.Live = append(state.Thread.Live, *entry)
	}
	return info, state, nil
}
