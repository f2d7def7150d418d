package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A SaveRequest is a document to save under a session's name.
type SaveRequest struct {
	Name      string
	Base      string // the snapshot that the document was made from; "" for a new session
	Data      []byte // Markdown
	Operation string // the command or the kind of save
}

// SaveResult describes a saved document and the snapshot that it became part of.
type SaveResult struct {
	domarkx.Info
	Changed bool // whether a snapshot was created
	Merged  bool // whether the session had moved and now contains both changes

	// Document is the snapshot with exactly the saved text. It is Info.ID unless Merged.
	Document string

	State  *domarkx.State // state of Document, if it was created and is small; otherwise nil
	Grows  bool           // whether later messages of the document can be appended
	Before domarkx.Info   // the session's newest snapshot before the save
}

// Save creates a snapshot from a saved document. If the session moved since the base, Save merges both changes. If it was
// removed, Save continues from the base. If the document cannot be parsed, Save returns a *syntax.Error and changes nothing.
func (m *SessionManager) Save(ctx context.Context, r SaveRequest) (SaveResult, error) {
	var err error
	if r.Base, err = m.pastAttached(ctx, r.Name, r.Base); err != nil {
		return SaveResult{}, err
	}
	tip, err := m.store.TipOrNone(ctx, r.Name)
	if err != nil {
		return SaveResult{}, err
	}
	if r.Base, err = m.InPlaceOf(ctx, r.Base, tip.ID, m.store.IsAncestor); err != nil {
		return SaveResult{}, err
	}
	var base *view.View
	if r.Base != "" {
		if base, err = view.Load(ctx, m.store, r.Base); err != nil {
			return SaveResult{}, err
		}
	}
	same, err := base.Reads(ctx, r.Data)
	if err != nil {
		return SaveResult{}, err
	}
	if same && tip.ID != "" {
		return SaveResult{Info: tip, Document: r.Base}, nil
	}
	doc, err := m.parse(ctx, r, base)
	if err != nil {
		return SaveResult{}, err
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return SaveResult{}, err
	}
	var saved SaveResult
	err = m.Update(ctx, r.Operation+" "+r.Name, func(tx *transaction.Tx) error {
		e := edit.New(m.store, base, doc, committer)
		c := Change{Name: r.Name, Base: r.Base, Operation: r.Operation, Author: author, Committer: committer}
		saved, err = m.CommitEdit(ctx, tx, transaction.AsIs(), e, c, trust.Saved(r.Base, doc))
		return err
	})
	return saved, err
}

// InPlaceOf returns the commit with which a redaction replaced the given one, or the commit itself if it was not replaced,
// or is part of the history of tip because the redaction was undone. Work that began before a redaction has to continue from
// the result. Otherwise it would bring the old history back. within reports whether commit a is b or an ancestor of b.
func (m *SessionManager) InPlaceOf(ctx context.Context, commit, tip string, within func(ctx context.Context, a, b string) (bool, error)) (string, error) {
	if commit == "" || commit == tip {
		return commit, nil
	}
	replaced, err := m.store.Replacements()
	if err != nil || replaced[commit] == "" {
		return commit, err
	}
	if tip != "" {
		used, err := within(ctx, commit, tip)
		if err != nil && !errors.Is(err, domarkx.ErrNotFound) || used { // its objects may be gone
			return commit, err
		}
	}
	for range replaced {
		now := replaced[commit]
		if now == "" {
			break
		}
		commit = now
	}
	return commit, nil
}

// parse parses a saved document. Included files are read from the base.
func (m *SessionManager) parse(ctx context.Context, r SaveRequest, base *view.View) (*domarkx.Document, error) {
	src := format.Source{Path: r.Name + ".md", Data: r.Data}
	if base != nil {
		files, err := base.Includes(ctx)
		if err != nil {
			return nil, err
		}
		src.Include = view.StoredInclude(files)
	}
	return markdown.Decode(src)
}

// A Change describes the commit of a new snapshot.
type Change struct {
	Name      string
	Base      string // the snapshot that it was made from; "" for none
	Operation string
	Author    domarkx.Signature
	Committer domarkx.Signature
}

// CommitOf returns a commit of a state, whose headers become its own (see [SessionManager.OwnedHeaders]). It sets no parents.
func (m *SessionManager) CommitOf(ctx context.Context, tx view.Blobs, state *domarkx.State, c Change, subject string) (domarkx.Commit, error) {
	owned, err := m.OwnedHeaders(ctx, state.Headers)
	if err != nil {
		return domarkx.Commit{}, err
	}
	if owned != nil {
		state.Headers = owned
	}
	v, err := view.New(ctx, tx, state)
	if err != nil {
		return domarkx.Commit{}, err
	}
	commit := domarkx.Commit{State: state, Operation: c.Operation, Subject: subject, Bytes: v.Size(), Author: c.Author, Committer: c.Committer}
	if len(state.Thread.Live) > 0 {
		first, err := v.Message(ctx, 0)
		if err != nil {
			return domarkx.Commit{}, err
		}
		commit.Preview = view.Preview(first)
	}
	return commit, nil
}

// subject returns the subject of an edition's commit.
func subject(c Change, e *edit.Edit) string {
	n := e.Len()
	was := 0
	if e.Base != nil {
		was = e.Base.Live.Len()
	}
	switch {
	case e.Base == nil:
		return fmt.Sprintf("%s %s: %s", c.Operation, c.Name, Count(n))
	case n > was:
		return fmt.Sprintf("%s %s: %s more", c.Operation, c.Name, Count(n-was))
	case n < was:
		return fmt.Sprintf("%s %s: %s fewer", c.Operation, c.Name, Count(was-n))
	}
	return fmt.Sprintf("%s %s", c.Operation, c.Name)
}

// Count returns a number of messages in words, such as "2 messages".
func Count(n int) string {
	if n == 1 {
		return "1 message"
	}
	return fmt.Sprintf("%d messages", n)
}

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
