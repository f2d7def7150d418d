package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/gitstore"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// recordIn stores the outcome of a call in the current state of its session: after the call, or
// if the call was removed, in a new message at the end. It links v unless v.ID is empty.
func (b *bench) recordIn(ctx context.Context, tx *gitstore.Tx, t target, o Outcome, v domarkx.Version, attachments []domarkx.Attachment) (place, error) {
	m := b.m
	tip, err := tx.Tip(ctx, t.Session)
	if errors.Is(err, domarkx.ErrNotFound) {
		return place{}, nil // the session was removed; only the version remains
	}
	if err != nil {
		return place{}, err
	}
	tip.Name = t.Session
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return place{}, err
	}
	c := change{name: t.Session, operation: t.operation, author: author, committer: committer}
	if !t.Appends {
		at, info, err := b.recordBehind(ctx, tx, tip, c, t, o, v, attachments)
		if err != nil {
			return place{}, err
		}
		if info.ID != "" {
			if t.Completed == "" {
				m.digestGoesOn(tip, info)
			}
			return at, tx.Set(ctx, t.Session, info.ID)
		}
	}
	block := t.recorded()
	added := addition{message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{block, o.block()}},
		id: t.Message, link: v.ID, attachments: attachments}
	if !t.Appends {
		added.id = ownMessage(t.journalled)
	}
	info, err := m.appendTo(ctx, tx, tip, c, added)
	if err != nil {
		return place{}, err
	}
	info.Name = t.Session
	at := place{message: info.Messages - 1, untrusted: unextended(t.Session, m.trustAppended(ctx, tip, info, added.message))}
	return at, tx.Set(ctx, t.Session, info.ID)
}

// recordBehind stores the outcome of a call after the call. If the session no longer contains the
// call, the returned snapshot has no id.
func (b *bench) recordBehind(ctx context.Context, tx *gitstore.Tx, tip domarkx.Info, c change, t target, o Outcome, v domarkx.Version, attachments []domarkx.Attachment) (place, domarkx.Info, error) {
	m := b.m
	if at, info, err := b.recordRecent(ctx, tx, tip, c, t, o, v, attachments); err != nil || info.ID != "" {
		return at, info, err
	}
	state, err := m.store.Load(ctx, tip.ID)
	if err != nil {
		return place{}, domarkx.Info{}, err
	}
	shown, err := newView(ctx, m.store, state)
	if err != nil {
		return place{}, domarkx.Info{}, err
	}
	for k, e := range state.Thread.Live {
		if e.ID != t.Message {
			continue
		}
		msg, err := loadMessage(ctx, m.store, e)
		if err != nil {
			return place{}, domarkx.Info{}, err
		}
		all := steps(msg, b.canRun)
		s, ok := stepAt(all, t.journalled)
		if !ok || s.done && s.result != t.Before {
			continue
		}
		written, err := m.withResult(ctx, shown, k, msg, s, t.outcomeBlocks(o), all, t.prune)
		if err != nil {
			return place{}, domarkx.Info{}, err
		}
		entry := entryOf(written, c.committer.When.Unix())
		if entry.Link = e.Link; v.ID != "" {
			entry.Link = v.ID
		}
		state.Thread = *replaceEntry(&state.Thread, k, entry)
		if t.Completed != "" {
			if err := m.trustCompleted(ctx, tip, state, k, written.Message); err != nil {
				return place{}, domarkx.Info{}, err
			}
		}
		info, err := m.commitLinked(ctx, tx, tip, state, c, fmt.Sprintf("%s: result of call %d.%d", t.operation, k, t.Index), v.ID, attachments)
		return place{message: k, index: slices.IndexFunc(all, func(other step) bool { return other.at == s.at })}, info, err
	}
	return place{}, domarkx.Info{}, nil
}

// withResult returns message k with the outcome inserted after a call, or in place of the call if
// the outcome has two blocks. prune removes the results of the later calls.
func (m *SessionManager) withResult(ctx context.Context, v *view, k int, msg domarkx.Message, s step, outcome []domarkx.Block, all []step, prune bool) (domarkx.WrittenMessage, error) {
	e := v.live.At(k)
	written := domarkx.WrittenMessage{Message: msg, Written: domarkx.Written{Layout: e.Layout}}
	if e.Layout.Verbatim {
		var err error
		if written.Bytes, err = read(ctx, m.store, e.Source); err != nil {
			return written, err
		}
	}
	files, err := v.includes(ctx)
	if err != nil {
		return written, err
	}
	include := storedInclude(files)
	if prune {
		for i := len(all) - 1; i >= 0 && all[i].at > s.at; i-- {
			if all[i].done {
				written = markdown.Splice(written, all[i].at+1, 1, nil, include)
			}
		}
	}
	from, to := s.at+1, s.at+1
	if s.done {
		to++
	}
	if len(outcome) > 1 {
		from--
	}
	return markdown.Splice(written, from, to-from, outcome, include), nil
}

// replaceEntry returns a thread in which message k is replaced by entry.
func replaceEntry(t *domarkx.Thread, k int, entry domarkx.Entry) *domarkx.Thread {
	n := len(t.Live)
	edit := domarkx.Edit{Next: make([]domarkx.Entry, n), Same: make([]bool, n)}
	edit.Match, edit.Moved = make([]int, n), make([]int, n)
	for i, e := range t.Live {
		edit.Match[i], edit.Moved[i], edit.Same[i], edit.Next[i] = i, -1, i != k, e
	}
	edit.Next[k] = entry
	edit.NewID = func(j int, clock uint32, after domarkx.ID) domarkx.ID {
		return domarkx.DeriveID(clock, []byte("result"), after[:], edit.Next[j].JSON.Data)
	}
	return t.Revise(edit)
}

// commitLinked commits a state that continues a snapshot. It links the version unless link is "".
func (m *SessionManager) commitLinked(ctx context.Context, tx *gitstore.Tx, tip domarkx.Info, state *domarkx.State, c change, subject, link string, attachments []domarkx.Attachment) (domarkx.Info, error) {
	owned, err := m.ownedHeaders(ctx, state.Headers)
	if err != nil {
		return domarkx.Info{}, err
	}
	if owned != nil {
		state.Headers = owned
	}
	commit, err := m.commitOf(ctx, tx, state, c, subject)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Parents = []string{tip.ID}
	if link != "" {
		commit.Parents = append(commit.Parents, link)
	}
	commit.Attachments = attachments
	return tx.Commit(ctx, commit)
}
