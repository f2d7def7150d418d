package turns

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// recentMessages is the number of messages at the end of a session among which
// [openWorkspace.recordRecent] looks for a call.
const recentMessages = 8

// recordRecent is like recordBehind for a call in one of the last messages of a session, which is
// the usual case in a conversation. Its cost does not depend on the length of the session. The
// returned snapshot has no id if the call is elsewhere or the case is not a simple one.
func (b *openWorkspace) recordRecent(ctx context.Context, tx *transaction.Tx, f transaction.Filter, tip domarkx.Info, c engine.Change, t callTarget, o toolcall.Outcome, v domarkx.Version, attachments []domarkx.Attachment) (position, domarkx.Info, error) {
	none := func(err error) (position, domarkx.Info, error) { return position{}, domarkx.Info{}, err }
	m := b.m
	if t.prune || t.Completed != "" {
		return none(nil)
	}
	k, state, err := m.recent(ctx, tip, t.Message)
	if err != nil || state == nil {
		return none(err)
	}
	shown, err := view.New(ctx, m.store, state)
	if err != nil {
		return none(err)
	}
	const at = 1 // the message before it comes first
	e := state.Thread.Live[at]
	msg, err := view.LoadMessage(ctx, m.store, e)
	if err != nil {
		return none(err)
	}
	all := toolcall.Steps(msg, b.canRun)
	s, ok := stepAt(all, t.Call)
	if !ok || s.Done && s.Result != t.Before {
		return none(nil)
	}
	written, err := m.withResult(ctx, shown, at, msg, s, t.outcomeBlocks(o), all, false)
	if err != nil {
		return none(err)
	}
	entry := edit.EntryOf(written, c.Committer.When.Unix())
	if entry.Link = e.Link; v.ID != "" {
		entry.Link = v.ID
	}
	before := shown.Size()
	state.Thread = *replaceEntry(&state.Thread, at, entry)
	if shown, err = view.New(ctx, m.store, state); err != nil {
		return none(err)
	}
	last := state.Thread.Live[at:]
	commit := domarkx.Commit{Parents: []string{tip.ID}, State: &domarkx.State{Thread: domarkx.Thread{Live: last}}, Replaced: len(last),
		Operation: c.Operation, Subject: fmt.Sprintf("%s: result of call %d.%d", t.operation, k, t.Index),
		Preview: tip.Preview, Bytes: tip.Bytes + shown.Size() - before, Author: c.Author, Committer: c.Committer, Attachments: attachments}
	if v.ID != "" {
		commit.Parents = append(commit.Parents, v.ID)
	}
	info, err := tx.Append(ctx, f, commit)
	return position{message: k, index: slices.IndexFunc(all, func(other toolcall.Step) bool { return other.Index == s.Index }), written: written.Message}, info, err
}

// recent finds one of the last messages of a session by its id. It returns its index, and a state
// with the message before it, the message, and all messages after it. The state is nil if the
// message is not there, if it is the first one, or if its text or that of a later one depends on
// other messages: on the other side of a conflict, or on an included file.
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
		return k + 1, &domarkx.State{Headers: headers, Thread: domarkx.Thread{Live: live}}, nil
	}
	return 0, nil, nil
}
