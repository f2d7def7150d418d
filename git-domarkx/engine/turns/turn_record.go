package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// recordIn stores the outcome of a call in the current state of its session: after the call, or
// if the call was removed, in a new message at the end. It links v unless v.ID is empty.
func (b *openWorkspace) recordIn(ctx context.Context, tx *transaction.Tx, t callTarget, o toolcall.Outcome, v domarkx.Version, attachments []domarkx.Attachment) (position, error) {
	m := b.m
	tip, err := tx.Tip(ctx, t.Session)
	if errors.Is(err, domarkx.ErrNotFound) {
		return position{}, nil // the session was removed; only the version remains
	}
	if err != nil {
		return position{}, err
	}
	tip.Name = t.Session
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return position{}, err
	}
	c := engine.Change{Name: t.Session, Operation: t.operation, Author: author, Committer: committer}
	filter, err := tx.Filter(ctx, t.Session)
	if err != nil {
		return position{}, err
	}
	if o.Result, err = filter.Value(ctx, o.Result); err != nil {
		return position{}, err
	}
	if o.Message, err = filter.String(ctx, o.Message); err != nil {
		return position{}, err
	}
	if t.Completed, err = filter.String(ctx, t.Completed); err != nil {
		return position{}, err
	}
	if !t.Appends {
		at, info, err := b.recordBehind(ctx, tx, filter, tip, c, t, o, v, attachments)
		if err != nil {
			return position{}, err
		}
		if info.ID != "" {
			return at, tx.Set(ctx, t.Session, info, b.trustRecorded(t.Message, at.written))
		}
	}
	block := t.Recorded()
	added := engine.Addition{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{block, o.Block()}},
		ID: t.Message, Link: v.ID, Attachments: attachments}
	if !t.Appends {
		added.ID = ownMessage(t.Call)
	}
	info, msg, err := m.sessions.AppendTo(ctx, tx, tip, c, added)
	if err != nil {
		return position{}, err
	}
	at := position{message: info.Messages - 1}
	err = tx.Set(ctx, t.Session, info, func(ctx context.Context, m *trust.Manager, before, after domarkx.Info) error {
		at.untrusted = trust.NotExtended(t.Session, trust.Appended(msg)(ctx, m, before, after))
		return nil
	})
	return at, err
}

// trustRecorded extends the trust in a session, and the approval of this process, to a call whose result
// a snapshot adds to the one before.
func (b *openWorkspace) trustRecorded(id domarkx.ID, msg domarkx.Message) trust.Extension {
	return func(ctx context.Context, m *trust.Manager, before, after domarkx.Info) error {
		if b.chain == nil {
			b.chain = &trust.Chain{}
		}
		was, now, err := m.ExtendRecorded(ctx, b.chain, before, after, id, msg)
		if err == nil && b.gate != nil {
			b.gate.Follow(was, now)
		}
		return err
	}
}

// recordBehind stores the outcome of a call after the call. If the session no longer contains the
// call, the returned snapshot has no id.
func (b *openWorkspace) recordBehind(ctx context.Context, tx *transaction.Tx, f transaction.Filter, tip domarkx.Info, c engine.Change, t callTarget, o toolcall.Outcome, v domarkx.Version, attachments []domarkx.Attachment) (position, domarkx.Info, error) {
	m := b.m
	if at, info, err := b.recordRecent(ctx, tx, f, tip, c, t, o, v, attachments); err != nil || info.ID != "" {
		return at, info, err
	}
	state, err := m.store.Load(ctx, tip.ID)
	if err != nil {
		return position{}, domarkx.Info{}, err
	}
	shown, err := view.New(ctx, m.store, state)
	if err != nil {
		return position{}, domarkx.Info{}, err
	}
	for k, e := range state.Thread.Live {
		if e.ID != t.Message {
			continue
		}
		msg, err := view.LoadMessage(ctx, m.store, e)
		if err != nil {
			return position{}, domarkx.Info{}, err
		}
		all := toolcall.Steps(msg, b.canRun)
		s, ok := stepAt(all, t.Call)
		if !ok || s.Done && s.Result != t.Before {
			continue
		}
		written, err := m.withResult(ctx, shown, k, msg, s, t.outcomeBlocks(o), all, t.prune)
		if err != nil {
			return position{}, domarkx.Info{}, err
		}
		entry := edit.EntryOf(written, c.Committer.When.Unix())
		if entry.Link = e.Link; v.ID != "" {
			entry.Link = v.ID
		}
		state.Thread = *replaceEntry(&state.Thread, k, entry)
		info, err := m.commitLinked(ctx, tx, f, tip, state, c, fmt.Sprintf("%s: result of call %d.%d", t.operation, k, t.Index), v.ID, attachments)
		return position{message: k, index: slices.IndexFunc(all, func(other toolcall.Step) bool { return other.Index == s.Index }), written: written.Message}, info, err
	}
	return position{}, domarkx.Info{}, nil
}

// withResult returns message k with the outcome inserted after a call, or in place of the call if
// the outcome has two blocks. prune removes the results of the later calls.
func (m *Manager) withResult(ctx context.Context, v *view.View, k int, msg domarkx.Message, s toolcall.Step, outcome []domarkx.Block, all []toolcall.Step, prune bool) (domarkx.WrittenMessage, error) {
	e := v.Live.At(k)
	written := domarkx.WrittenMessage{Message: msg, Written: domarkx.Written{Layout: e.Layout}}
	if e.Layout.Verbatim {
		var err error
		if written.Bytes, err = view.Read(ctx, m.store, e.Source); err != nil {
			return written, err
		}
	}
	files, err := v.Includes(ctx)
	if err != nil {
		return written, err
	}
	include := view.StoredInclude(files)
	if prune {
		for i := len(all) - 1; i >= 0 && all[i].Index > s.Index; i-- {
			if all[i].Done {
				written = markdown.Splice(written, all[i].Index+1, 1, nil, include)
			}
		}
	}
	from, to := s.Index+1, s.Index+1
	if s.Done {
		to++
	}
	if len(outcome) > 1 {
		from--
	}
	return markdown.Splice(written, from, to-from, outcome, include), nil
}

func replaceEntry(t *domarkx.Thread, k int, entry domarkx.Entry) *domarkx.Thread {
	n := len(t.Live)
	edit := domarkx.Edit{Next: make([]domarkx.Entry, n), Same: make([]bool, n)}
	edit.Match, edit.Moved = make([]int, n), make([]int, n)
	for i, e := range t.Live {
		edit.Match[i], edit.Moved[i], edit.Same[i], edit.Next[i] = i, -1, i != k, e
	}
	edit.Next[k] = entry
	edit.NewID = func(_ int, m domarkx.Revised, clock uint32, after domarkx.ID) domarkx.ID {
		return domarkx.DeriveID(clock, []byte("result"), after[:], m.JSON.Data)
	}
	return t.Revise(edit)
}

// commitLinked commits a state that continues a snapshot. It links the version unless link is "".
func (m *Manager) commitLinked(ctx context.Context, tx *transaction.Tx, f transaction.Filter, tip domarkx.Info, state *domarkx.State, c engine.Change, subject, link string, attachments []domarkx.Attachment) (domarkx.Info, error) {
	owned, err := m.sessions.OwnedHeaders(ctx, state.Headers)
	if err != nil {
		return domarkx.Info{}, err
	}
	if owned != nil {
		state.Headers = owned
	}
	commit, err := m.sessions.CommitOf(ctx, tx, state, c, subject)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Parents = []string{tip.ID}
	if link != "" {
		commit.Parents = append(commit.Parents, link)
	}
	commit.Attachments = attachments
	return tx.Commit(ctx, f, commit)
}
