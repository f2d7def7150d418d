package turns

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// recentMessages is the number of messages at the end of a session among which
// [openWorkspace.recordRecent] looks for a call.
const recentMessages = 8

// recordRecent is like recordBehind for a call in one of the last messages of a session, which is
// the usual case in a conversation. Its cost does not depend on the length of the session. The
// returned snapshot has no id if the call is elsewhere or the case is not a simple one.
func (b *openWorkspace) recordRecent(ctx context.Context, r recording) (at position, info domarkx.Info, err error) {
	if r.prune || r.Completed != "" {
		return at, info, nil
	}
	k, state, err := b.m.recent(ctx, r.tip, r.Message)
	if err != nil || state == nil {
		return at, info, err
	}
	was, err := view.New(ctx, b.m.store, state)
	if err != nil {
		return at, info, err
	}
	const place = 1 // the message before it comes first
	at, ok, err := b.revise(ctx, r, state, place)
	if err != nil || !ok {
		return at, info, err
	}
	now, err := view.New(ctx, b.m.store, state)
	if err != nil {
		return at, info, err
	}
	at.message = k
	last, c := state.Thread.Live[place:], r.change
	info, err = r.tx.Append(ctx, r.filter, domarkx.Commit{Parents: r.parents(), State: &domarkx.State{Thread: domarkx.Thread{Live: last}}, Replaced: len(last),
		Operation: c.Operation, Subject: fmt.Sprintf("%s: result of call %d.%d", r.operation, k, r.Index),
		Preview: r.tip.Preview, Bytes: r.tip.Bytes + now.Size() - was.Size(), Author: c.Author, Committer: c.Committer, Attachments: r.attachments})
	return at, info, err
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
