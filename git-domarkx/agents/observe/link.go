package observe

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/events"
)

// LinkOperation is the operation of snapshots that differ from their parent only in links.
const LinkOperation = "link"

// link links the messages of a recorded session to the versions of its work tree. A message with
// calls is linked to the version after the calls, a prompt to the version before its turn, and the
// last message of a turn to the version at the turn's end. Other messages of the assistant are
// linked to the version that was current then (see fill). If ended is false, the turn is still
// going on, and only messages before the last linked one get such a link: a turn without changes
// then needs one snapshot for its links. link does nothing if no link changes.
func (m *Manager) link(ctx context.Context, name string, ended bool) error {
	workspace, err := local.WorkspaceOf(ctx, m.env.Local, name)
	if err != nil {
		return err
	}
	tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
	if err != nil || !IsObserved(tip) {
		return err
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return err
	}
	// Usually there is nothing to do, so take no lock. An error may be that of an expiry that removed the versions meanwhile.
	if plan, err := m.plan(ctx, name, tip, ended); err == nil && len(plan.links) == 0 {
		return nil
	}
	return m.updates.Update(ctx, "link "+name, func(tx *transaction.Tx) error {
		now, err := tx.Tip(ctx, name)
		if err != nil {
			return err
		}
		tip, err := tx.WorkspaceTip(ctx, workspace) // an expiry may have replaced all versions since
		if err != nil {
			return err
		}
		plan, err := m.plan(ctx, name, tip, ended)
		if err != nil || len(plan.links) == 0 || plan.snapshot.ID != now.ID {
			return err
		}
		return m.commitLinks(ctx, tx, plan, author, committer)
	})
}

// A plan holds the links to add to a snapshot.
type plan struct {
	snapshot domarkx.Info
	state    *domarkx.State
	links    map[int]string // message → version
	waiting  bool           // whether a version belongs to a message that is not recorded yet
}

// Waiting reports whether a version of a session's work tree from the last minute waits for its message, which the agent's
// transcript does not have yet or which is not imported yet.
func (m *Manager) Waiting(ctx context.Context, name, workspace string) (bool, error) {
	tip, err := m.store.WorkspaceTip(ctx, workspace)
	if err != nil || !IsObserved(tip) || time.Since(time.Unix(tip.Date, 0)) > recent {
		return false, err
	}
	p, err := m.plan(ctx, name, tip, true)
	return p.waiting || len(p.links) > 0, err
}

// plan assigns to messages the versions of a workspace that are newer than any version that the
// session links. It also assigns versions to messages after which nothing changed.
func (m *Manager) plan(ctx context.Context, name string, tip domarkx.Version, ended bool) (plan, error) {
	p := plan{links: map[int]string{}}
	var err error
	if p.snapshot, err = m.store.Tip(ctx, name); err != nil {
		return p, err
	}
	if p.state, err = m.store.Load(ctx, p.snapshot.ID); err != nil {
		return p, err
	}
	linked := events.NewThread(p.state.Thread.Live)
	var fresh, loose []domarkx.Version
	next := 0        // the first message that the next version can belong to
	rewound := false // versions before a rewind belong to messages that the rewind removed
	for v, err := range m.store.Versions(ctx, tip.ID) {
		if err != nil {
			return p, err
		}
		if k, ok := linked.MessageOf(v.ID); ok {
			next = k + 1
			if events.AuthorOf(v) == events.Calls {
				next = k // a message can have several batches
			}
			break
		}
		rewound = rewound || v.Operation == events.Rewind
		if v.Observed != nil && !rewound {
			fresh = append(fresh, v)
		}
	}
	for i, v := range slices.Backward(fresh) {
		k, err := m.messageOf(ctx, p, next, v)
		if err != nil {
			return p, err
		}
		if k < 0 {
			if events.AuthorOf(v) == events.Calls {
				past, err := m.isPast(ctx, p, v.Date, ended)
				if err != nil {
					return p, err
				}
				if p.waiting = !past; p.waiting {
					fresh = fresh[i+1:] // it belongs to a message that is still to come, and so do those after it
					break
				}
			}
			loose = append(loose, v)
			continue
		}
		p.links[k], next = v.ID, k
		if v.Operation == events.Prompt {
			next = k + 1
		}
	}
	p.fill(linked, fresh, loose, ended)
	return p, nil
}

// isPast reports whether the session has a later message than a date, so that a call before that date would be in
// the session if it were one of its own. In the second of that date, only the end of a turn is surely later.
func (m *Manager) isPast(ctx context.Context, p plan, date int64, ended bool) (bool, error) {
	live := p.state.Thread.Live
	if len(live) == 0 {
		return false, nil
	}
	last := live[len(live)-1]
	if last.Date != date || !ended || last.Role != domarkx.Assistant {
		return last.Date > date, nil
	}
	calls, err := m.callsOf(ctx, last)
	return len(calls) == 0, err
}

// fill adds links for messages of the assistant that no version belongs to. Such a message gets the
// version of the message before it, or a newer one of the loose versions that was taken before the
// next message. Loose versions belong to no message, such as those after calls of a sub-agent.
func (p *plan) fill(linked events.Thread, fresh, loose []domarkx.Version, ended bool) {
	numbers := map[string]int{}
	for _, v := range fresh {
		numbers[v.ID] = v.Number
	}
	live := p.state.Thread.Live
	last := len(live) - 1
	for ; !ended && last >= 0; last-- {
		if _, fresh := p.links[last]; fresh || live[last].Link != "" {
			break
		}
	}
	limits := make([]int, len(live)) // numbers of the versions that belong to later messages; those of earlier ones are smaller
	for k, limit := len(live)-1, math.MaxInt; k >= 0; k-- {
		limits[k] = limit
		if n, ok := numbers[p.links[k]]; ok {
			limit = n
		}
	}
	held := ""
	for k := 0; k <= last; k++ {
		link, own := p.links[k]
		if first, ok := linked.MessageOf(live[k].Link); !own && ok && first == k {
			link, own = live[k].Link, true
		}
		limit := limits[k]
		if own {
			held, limit = link, numbers[link]
		}
		if live[k].Role != domarkx.Assistant {
			continue
		}
		before := live[min(k+1, len(live)-1)].Date
		for len(loose) > 0 && loose[0].Number < limit && (loose[0].Date <= live[k].Date || loose[0].Date <= before && events.AuthorOf(loose[0]) != events.Person) {
			if loose[0].Number > numbers[held] {
				held = loose[0].ID
			}
			loose = loose[1:]
		}
		if held != "" && live[k].Link != held {
			p.links[k] = held
		}
	}
}

// near is the maximum difference in seconds between the time that an agent records for an event and
// the time of the version taken for it.
const near = 2

// messageOf returns the message at index first or later that a version belongs to, or -1 if that
// message is not recorded yet.
func (m *Manager) messageOf(ctx context.Context, p plan, first int, v domarkx.Version) (int, error) {
	live := p.state.Thread.Live
	switch author := events.AuthorOf(v); {
	case v.Operation == events.Prompt:
		for k := first; k < len(live); k++ {
			if live[k].Role == domarkx.User && live[k].Link == "" && live[k].Date >= v.Date-near-1 {
				return k, nil
			}
		}
		return -1, nil
	case author == events.Calls:
		return m.calling(ctx, live, first, v.Observed.Calls)
	case author == events.Person:
		return -1, nil
	}
	// A message that a version belongs to because of its calls keeps that version.
	free := func(k int) bool {
		return live[k].Role == domarkx.Assistant && p.links[k] == "" && (k > first || live[k].Link == "")
	}
	last := -1
	for k := first; k < len(live) && live[k].Date <= v.Date+near; k++ {
		if free(k) {
			last = k
		}
	}
	if v.Operation == events.Batch {
		return last, nil
	}
	for k := last; k >= first && free(k); k-- { // nothing changed after later messages
		if ids, err := m.callsOf(ctx, live[k]); err != nil || len(ids) > 0 {
			return k, err
		}
	}
	return last, nil
}

// calling returns the last message at index first or later that contains one of the calls, or -1.
func (m *Manager) calling(ctx context.Context, live []domarkx.Entry, first int, calls []string) (int, error) {
	for k := len(live) - 1; k >= first; k-- {
		if live[k].Role != domarkx.Assistant {
			continue
		}
		ids, err := m.callsOf(ctx, live[k])
		if err != nil {
			return -1, err
		}
		if slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(calls, id) }) {
			return k, nil
		}
	}
	return -1, nil
}

// callsOf returns the ids of the calls in a message.
func (m *Manager) callsOf(ctx context.Context, e domarkx.Entry) ([]string, error) {
	msg, err := view.LoadMessage(ctx, m.store, e)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, b := range msg.Content {
		if call, ok := transcript.CallOf(b); ok && call.ID != "" {
			ids = append(ids, call.ID)
		}
	}
	return ids, nil
}

// commitLinks commits a snapshot with the links of a plan. Its document is the same as that of its
// parent. An export therefore still returns the original document, and the next import continues
// the session.
func (m *Manager) commitLinks(ctx context.Context, tx *transaction.Tx, p plan, author, committer domarkx.Signature) error {
	live := p.state.Thread.Live
	first := len(live)
	var versions []string
	for k, version := range p.links {
		first = min(first, k)
		live[k].Link = version
		versions = append(versions, version)
	}
	slices.Sort(versions)
	versions = slices.Compact(versions)
	c := domarkx.Commit{Parents: append([]string{p.snapshot.ID}, versions...), State: &domarkx.State{}, Replaced: len(live) - first, Operation: LinkOperation,
		Subject: fmt.Sprintf("link %s to the work tree", p.snapshot.Name), Preview: p.snapshot.Preview, Bytes: p.snapshot.Bytes, Author: author, Committer: committer}
	c.State.Thread.Live = live[first:]
	if len(p.state.Headers) == 1 && p.state.Headers[0].Origin != "" {
		renoted, err := m.renoted(ctx, tx, p)
		if err != nil {
			return err
		}
		c.State.Headers = renoted
	}
	info, err := tx.Append(ctx, transaction.AsIs(), c)
	if err != nil {
		return err
	}
	if err := sources.Moved(m.env.StateDir, p.snapshot.Name, p.snapshot.ID, info.ID); err != nil {
		return err
	}
	return tx.Set(ctx, p.snapshot.Name, info, trust.Unchanged)
}

// renoted returns the headers of a snapshot for the next one, which has the same document: the note
// of the original document refers to the next snapshot. It returns nil if the session changed since
// it was imported.
func (m *Manager) renoted(ctx context.Context, tx *transaction.Tx, p plan) ([]domarkx.HeaderEntry, error) {
	h := p.state.Headers[0]
	origin, err := m.store.Origin(ctx, h.Origin)
	if err != nil {
		return nil, err
	}
	conversation, err := m.store.Conversation(ctx, p.snapshot.ID)
	if err != nil || conversation != origin.Note {
		return nil, err
	}
	if h.Origin, err = tx.RenoteOrigin(h.Origin); err != nil {
		return nil, err
	}
	return []domarkx.HeaderEntry{h}, nil
}
