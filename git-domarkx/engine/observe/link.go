package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

// LinkOperation is the operation of snapshots that differ from their parent only in links.
const LinkOperation = "link"

// Link links the messages of a recorded session to the versions of its work tree: a message with calls to the
// version after them, a prompt to that before its turn, and the last message of a turn to that at its end. It
// does nothing if no version belongs to a message that was not linked before.
func (m *Manager) Link(ctx context.Context, name string) error {
	workspace, err := local.WorkspaceOf(ctx, m.env.Local, name)
	if err != nil {
		return err
	}
	tip, err := m.store.WorkspaceTip(ctx, workspace)
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil
	}
	if err != nil || !IsObserved(tip) {
		return err
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return err
	}
	if plan, err := m.plan(ctx, name, tip); err != nil || len(plan.links) == 0 { // mostly, and without the lock
		return err
	}
	return m.store.Update(ctx, "link "+name, func(tx *gitstore.Tx) error {
		now, err := tx.Tip(ctx, name)
		if err != nil {
			return err
		}
		plan, err := m.plan(ctx, name, tip)
		if err != nil || len(plan.links) == 0 || plan.snapshot.ID != now.ID {
			return err
		}
		return m.commitLinks(ctx, tx, plan, author, committer)
	})
}

// A plan is the links to add to a snapshot.
type plan struct {
	snapshot domarkx.Info
	state    *domarkx.State
	links    map[int]string // message → version
}

// plan finds the messages to which the versions of a workspace belong that are newer than any that the session
// links.
func (m *Manager) plan(ctx context.Context, name string, tip domarkx.Version) (plan, error) {
	p := plan{links: map[int]string{}}
	var err error
	if p.snapshot, err = m.store.Tip(ctx, name); err != nil {
		return p, err
	}
	if p.state, err = m.store.Load(ctx, p.snapshot.ID); err != nil {
		return p, err
	}
	linked := map[string]int{}
	for k, e := range p.state.Thread.Live {
		if e.Link != "" {
			linked[e.Link] = k
		}
	}
	var fresh []domarkx.Version
	next := 0 // the first message that can belong to the next version
	for v, err := range m.store.Versions(ctx, tip.ID) {
		if err != nil {
			return p, err
		}
		if k, ok := linked[v.ID]; ok {
			next = k + 1
			if v.Operation == string(Turn) && len(fresh) == 0 {
				p.later(k, v)
			}
			break
		}
		if v.Observed != nil {
			fresh = append(fresh, v)
		}
	}
	for _, v := range slices.Backward(fresh) {
		k, err := m.messageOf(ctx, p.state.Thread.Live, next, v)
		if err != nil {
			return p, err
		}
		if k >= 0 {
			p.links[k], next = v.ID, k
			if v.Operation == string(Prompt) {
				next = k + 1
			}
		}
	}
	return p, nil
}

// later links the version at the end of a turn also to the last message of the turn, if that was recorded
// after the message that has the link.
func (p *plan) later(k int, v domarkx.Version) {
	live := p.state.Thread.Live
	last := k
	for i := k + 1; i < len(live) && live[i].Role == domarkx.Assistant && live[i].Link == "" && live[i].Date <= v.Date+near; i++ {
		last = i
	}
	if last > k {
		p.links[last] = v.ID
	}
}

// near is how many seconds the times of an agent and of a version of the same event differ at most.
const near = 2

// messageOf returns the message, from first on, to which a version belongs, or -1 if it is not recorded yet.
func (m *Manager) messageOf(ctx context.Context, live []domarkx.Entry, first int, v domarkx.Version) (int, error) {
	switch v.Operation {
	case string(Prompt):
		for k := first; k < len(live); k++ {
			if live[k].Role == domarkx.User && live[k].Link == "" && live[k].Date >= v.Date-near-1 {
				return k, nil
			}
		}
		return -1, nil
	case string(Batch):
		if len(v.Observed.Calls) > 0 {
			return m.calling(ctx, live, first, v.Observed.Calls)
		}
	}
	last := -1
	for k := first; k < len(live) && live[k].Date <= v.Date+near; k++ {
		if live[k].Role == domarkx.Assistant {
			last = k
		}
	}
	return last, nil
}

// calling returns the last message, from first on, with one of the calls.
func (m *Manager) calling(ctx context.Context, live []domarkx.Entry, first int, calls []string) (int, error) {
	for k := len(live) - 1; k >= first; k-- {
		if live[k].Role != domarkx.Assistant {
			continue
		}
		msg, err := view.LoadMessage(ctx, m.store, live[k])
		if err != nil {
			return -1, err
		}
		for _, b := range msg.Content {
			if b.Type != domarkx.CodeBlock || b.Language != toolcall.Language || !strings.Contains(b.Text, `"id"`) {
				continue
			}
			call, err := domarkx.ParseValue([]byte(b.Text))
			if err != nil {
				continue
			}
			if id, _ := call.Get("id"); id.Text() != "" && slices.Contains(calls, id.Text()) {
				return k, nil
			}
		}
	}
	return -1, nil
}

// commitLinks stores a snapshot with the links of a plan. Its document is that of its parent, so the original
// that an export returns stays, and the next import continues it.
func (m *Manager) commitLinks(ctx context.Context, tx *gitstore.Tx, p plan, author, committer domarkx.Signature) error {
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
	info, err := tx.Append(ctx, c)
	if err != nil {
		return err
	}
	if err := sources.Moved(m.env.StateDir, p.snapshot.Name, p.snapshot.ID, info.ID); err != nil {
		return err
	}
	return tx.Set(ctx, p.snapshot.Name, info.ID)
}

// renoted returns the headers of a snapshot whose original notes the next snapshot, or nil if the session changed
// since it was imported.
func (m *Manager) renoted(ctx context.Context, tx *gitstore.Tx, p plan) ([]domarkx.HeaderEntry, error) {
	h := p.state.Headers[0]
	origin, err := m.store.Origin(ctx, h.Origin)
	if err != nil {
		return nil, err
	}
	conversation, err := m.store.Conversation(ctx, p.snapshot.ID)
	if err != nil || conversation != origin.Conversation {
		return nil, err
	}
	if h.Origin, err = tx.RenoteOrigin(h.Origin); err != nil {
		return nil, err
	}
	return []domarkx.HeaderEntry{h}, nil
}
