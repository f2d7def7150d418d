package engine

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// Begin commits a new session with one message.
func (m *SessionManager) Begin(ctx context.Context, tx *transaction.Tx, c Change, a Addition) (domarkx.Info, error) {
	f, err := tx.Filter(ctx, c.Name)
	if err != nil {
		return domarkx.Info{}, err
	}
	kept, err := m.keep(ctx, tx, f, a)
	if err != nil {
		return domarkx.Info{}, err
	}
	id, msg := a.ID, kept.message
	e := edit.New(m.store, nil, &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{markdown.WriteMessage(msg)}}, c.Committer)
	e.NewID = func(uint32) domarkx.ID { return id }
	state, _, err := e.Apply(ctx, tx)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit, err := m.CommitOf(ctx, tx, state, c, appendSubject(c.Operation, msg))
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Attachments, commit.Files = kept.attachments, kept.files
	return tx.Commit(ctx, f, commit)
}

// AppendTo commits a snapshot that adds a message to tip. It does not update the session's ref. It returns the message as it is
// stored: in a redacted session without its secrets.
func (m *SessionManager) AppendTo(ctx context.Context, tx *transaction.Tx, tip domarkx.Info, c Change, a Addition) (domarkx.Info, domarkx.Message, error) {
	f, err := tx.Filter(ctx, c.Name)
	if err != nil {
		return domarkx.Info{}, a.Message, err
	}
	kept, err := m.keep(ctx, tx, f, a)
	if err != nil {
		return domarkx.Info{}, a.Message, err
	}
	info, err := m.appendKept(ctx, tx, f, tip, c, a, kept)
	return info, kept.message, err
}

func (m *SessionManager) appendKept(ctx context.Context, tx *transaction.Tx, f transaction.Filter, tip domarkx.Info, c Change, a Addition, kept keptAddition) (domarkx.Info, error) {
	msg := kept.message
	headers, err := m.store.Header(ctx, tip.ID)
	if err != nil {
		return domarkx.Info{}, err
	}
	entry := edit.EntryOf(markdown.WriteMessage(msg), c.Committer.When.Unix())
	entry.ID, entry.Link = a.ID, a.Link
	tail, _, before, err := m.Tail(ctx, tip, headers)
	if err != nil {
		return domarkx.Info{}, err
	}
	if n := len(tail.Thread.Live); n > 0 {
		entry.After = tail.Thread.Live[n-1].ID
	}
	commit := domarkx.Commit{Parents: []string{tip.ID}, State: &domarkx.State{}, Operation: c.Operation, Subject: appendSubject(c.Operation, msg),
		Preview: tip.Preview, Author: c.Author, Committer: c.Committer, Attachments: kept.attachments, Files: kept.files}
	if a.Link != "" {
		commit.Parents = append(commit.Parents, a.Link)
	}
	if tip.Messages == 0 {
		commit.Preview = view.Preview(msg)
	}
	if commit.State.Headers, err = m.OwnedHeaders(ctx, headers); err != nil {
		return domarkx.Info{}, err
	}
	if commit.State.Headers != nil { // the preamble may have been rewritten
		tail.Headers = commit.State.Headers
	}
	tail.Thread.Live = append(tail.Thread.Live, entry)
	grown, err := view.New(ctx, m.store, tail)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Bytes = tip.Bytes + grown.Size() - before
	commit.State.Thread.Live = []domarkx.Entry{entry}
	return tx.Append(ctx, f, commit)
}

// Tail returns a state with the last messages of a session, the view of that state and the size
// of its document in bytes. It loads as many messages as decide the separator between the session
// and a new message.
func (m *SessionManager) Tail(ctx context.Context, tip domarkx.Info, headers []domarkx.HeaderEntry) (*domarkx.State, *view.View, int64, error) {
	state := &domarkx.State{Headers: headers}
	if tip.Messages > 0 {
		last, err := m.store.Entry(ctx, tip.ID, tip.Messages-1)
		if err != nil {
			return nil, nil, 0, err
		}
		from := max(0, tip.Messages-2-last.Layout.Within) // one more message, to detect a conflict
		for k := from; k < tip.Messages-1; k++ {
			e, err := m.store.Entry(ctx, tip.ID, k)
			if err != nil {
				return nil, nil, 0, err
			}
			state.Thread.Live = append(state.Thread.Live, e)
		}
		state.Thread.Live = append(state.Thread.Live, last)
	}
	v, err := view.New(ctx, m.store, state)
	if err != nil {
		return nil, nil, 0, err
	}
	return state, v, v.Size(), nil
}

// OwnedHeaders returns the headers without the snapshot_id and import_timestamp that an imported
// document brought for its own snapshot, or nil if they have neither.
func (m *SessionManager) OwnedHeaders(ctx context.Context, headers []domarkx.HeaderEntry) ([]domarkx.HeaderEntry, error) {
	h, err := view.LoadHeader(ctx, m.store, headers[:1])
	if err != nil || !view.HasOwnFields(h) {
		return nil, err
	}
	return append([]domarkx.HeaderEntry{view.WithoutOwnFields(headers[0], h)}, headers[1:]...), nil
}

func appendSubject(operation string, msg domarkx.Message) string {
	line := view.FirstLine(msg)
	if runes := []rune(line); len(runes) > 60 {
		line = string(runes[:59]) + "…"
	}
	if line == "" {
		return fmt.Sprintf("%s %s message", operation, msg.Role)
	}
	return fmt.Sprintf("%s %s: %s", operation, msg.Role, line)
}
