package turns

import (
	"context"
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

// A recording is the outcome of a call on its way into the current state of its session.
type recording struct {
	callTarget
	tx          *transaction.Tx
	filter      transaction.Filter
	tip         domarkx.Info
	change      engine.Change
	outcome     toolcall.Outcome
	version     domarkx.Version // to link; without an ID for none
	attachments []domarkx.Attachment
}

// recordIn stores the outcome of a call in the current state of its session: after the call, or
// if the call was removed, in a new message at the end. It links v unless v.ID is empty.
func (b *openWorkspace) recordIn(ctx context.Context, tx *transaction.Tx, t callTarget, o toolcall.Outcome, v domarkx.Version, attachments []domarkx.Attachment) (position, error) {
	m := b.m
	tip, err := tx.TipOrNone(ctx, t.Session)
	if err != nil || tip.ID == "" { // the session was removed; only the version remains
		return position{}, err
	}
	r := recording{callTarget: t, tx: tx, tip: tip, change: engine.Change{Name: t.Session, Operation: t.operation}, outcome: o, version: v, attachments: attachments}
	if r.change.Author, r.change.Committer, err = m.env.Identity(ctx); err != nil {
		return position{}, err
	}
	if r.filter, err = tx.Filter(ctx, t.Session); err != nil {
		return position{}, err
	}
	if r.outcome.Result, err = r.filter.Value(ctx, o.Result); err != nil {
		return position{}, err
	}
	if r.outcome.Message, err = r.filter.String(ctx, o.Message); err != nil {
		return position{}, err
	}
	if r.Completed, err = r.filter.String(ctx, t.Completed); err != nil {
		return position{}, err
	}
	if !t.Appends {
		at, info, err := b.recordBehind(ctx, r)
		if err != nil {
			return position{}, err
		}
		if info.ID != "" {
			return at, tx.Set(ctx, t.Session, info, func(ctx context.Context, m *trust.Manager, before, after domarkx.Info) error {
				was, now, err := m.ExtendRecorded(ctx, before, after, at.message, at.written)
				if err == nil && b.gate != nil { // the approval of this process holds for the result, too
					b.gate.Follow(was, now)
				}
				return err
			})
		}
	}
	added := engine.Addition{Message: domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{r.Recorded(), r.outcome.Block()}},
		ID: t.Message, Link: v.ID, Attachments: attachments}
	if !t.Appends {
		added.ID = ownMessage(t.Call)
	}
	info, msg, err := m.sessions.AppendTo(ctx, tx, tip, r.change, added)
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

// recordBehind stores the outcome of a call after the call. If the session no longer contains the call, the returned snapshot has
// no id. For a call in one of the last messages, which is the usual case in a conversation, the cost does not depend on the length
// of the session.
func (b *openWorkspace) recordBehind(ctx context.Context, r recording) (at position, info domarkx.Info, err error) {
	first, state, err := b.m.recent(ctx, r.tip, r.Message)
	if err != nil {
		return at, info, err
	}
	isWhole := state == nil
	if isWhole {
		if state, err = b.m.store.Load(ctx, r.tip.ID); err != nil {
			return at, info, err
		}
	}
	was, err := view.New(ctx, b.m.store, state)
	if err != nil {
		return at, info, err
	}
	for k, e := range state.Thread.Live {
		if e.ID != r.Message {
			continue
		}
		at, ok, err := b.revise(ctx, r, state, was, k)
		if err != nil {
			return at, info, err
		}
		if !ok {
			continue
		}
		at.message = first + k
		info, err = b.commitRevised(ctx, r, state, was, k, isWhole, fmt.Sprintf("%s: result of call %d.%d", r.operation, at.message, r.Index))
		return at, info, err
	}
	return at, info, nil
}

// commitRevised commits a state in which message k was revised: the whole state of the session, or only its end.
func (b *openWorkspace) commitRevised(ctx context.Context, r recording, state *domarkx.State, was *view.View, k int, isWhole bool, subject string) (domarkx.Info, error) {
	if isWhole {
		commit, err := b.m.sessions.CommitOf(ctx, r.tx, state, r.change, subject)
		if err != nil {
			return domarkx.Info{}, err
		}
		commit.Parents, commit.Attachments = r.parents(), r.attachments
		return r.tx.Commit(ctx, r.filter, commit)
	}
	now, err := view.New(ctx, b.m.store, state)
	if err != nil {
		return domarkx.Info{}, err
	}
	last, c := state.Thread.Live[k:], r.change
	return r.tx.Append(ctx, r.filter, domarkx.Commit{Parents: r.parents(), State: &domarkx.State{Thread: domarkx.Thread{Live: last}}, Replaced: len(last),
		Operation: c.Operation, Subject: subject, Preview: r.tip.Preview, Bytes: r.tip.Bytes + now.Size() - was.Size(),
		Author: c.Author, Committer: c.Committer, Attachments: r.attachments})
}

// revise adds the outcome to message k of a state, which is shown as the view. It returns false if the message does not have the call.
func (b *openWorkspace) revise(ctx context.Context, r recording, state *domarkx.State, shown *view.View, k int) (at position, ok bool, err error) {
	e := state.Thread.Live[k]
	msg, err := view.LoadMessage(ctx, b.m.store, e)
	if err != nil {
		return at, false, err
	}
	all := toolcall.Steps(msg, b.canRun)
	s, ok := stepAt(all, r.Call)
	if !ok || s.Done && s.Result != r.Before {
		return at, false, nil
	}
	blocks := []domarkx.Block{r.outcome.Block()}
	if r.Completed != "" { // the completed call replaces it
		blocks = []domarkx.Block{r.Recorded(), blocks[0]}
	}
	written, err := b.m.withResult(ctx, shown, k, msg, s, blocks, all, r.prune)
	if err != nil {
		return at, false, err
	}
	entry := edit.EntryOf(written, r.change.Committer.When.Unix())
	if entry.Link = e.Link; r.version.ID != "" {
		entry.Link = r.version.ID
	}
	state.Thread = *replaceEntry(&state.Thread, k, entry)
	at.index, at.written = slices.IndexFunc(all, func(other toolcall.Step) bool { return other.Index == s.Index }), written.Message
	return at, true, nil
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

// parents returns the parents of the next snapshot.
func (r recording) parents() []string {
	if r.version.ID == "" {
		return []string{r.tip.ID}
	}
	return []string{r.tip.ID, r.version.ID}
}

// recentMessages is the number of messages at the end of a session among which
// [Manager.recent] looks for a call.
const recentMessages = 8

// recent finds one of the last messages of a session by its id. It returns a state with the message before it, the message, and
// all messages after it, and the index of the first of them. The state is nil if the message is not there, if it is the first one, or if
// its text or that of a later one depends on other messages: on the other side of a conflict, or on an included file.
func (m *Manager) recent(ctx context.Context, tip domarkx.Info, id domarkx.ID) (int, *domarkx.State, error) {
	var live []domarkx.Entry // from the end of the session
	for k := tip.Messages - 1; k >= 0 && len(live) <= recentMessages; k-- {
		e, err := m.store.Entry(ctx, tip.ID, k)
		if err != nil {
			return 0, nil, err
		}
		n := len(live)
		if e.Layout.Within > 0 || e.Layout.Span > 0 || n > 0 && live[n-1].ID == e.ID {
			return 0, nil, nil
		}
		live = append(live, e)
		if n == 0 || live[n-1].ID != id {
			continue
		}
		slices.Reverse(live)
		headers, err := m.store.Header(ctx, tip.ID)
		if err != nil {
			return 0, nil, err
		}
		if owned, err := m.sessions.OwnedHeaders(ctx, headers); err != nil || owned != nil {
			return 0, nil, err
		}
		return k, &domarkx.State{Headers: headers, Thread: domarkx.Thread{Live: live}}, nil
	}
	return 0, nil, nil
}
