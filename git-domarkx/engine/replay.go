package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// A ReplayRequest says which session's calls to make again.
type ReplayRequest struct {
	Name    string
	Approve func(ctx context.Context, e *UntrustedError) (bool, error) // that of RunRequest
	Report  func(Replayed)
}

// A Replayed is a recorded call that was made again. Recorded and Replayed are the
// version of its resource then and now; of a call that failed, the code of its
// error.
type Replayed struct {
	Message, Index     int
	Recorded, Replayed string
}

// Same reports whether the same came of it.
func (r Replayed) Same() bool { return r.Recorded == r.Replayed }

// Replay makes the recorded calls of a session again, in an instance of its own that
// begins with the version before the first of them, and returns how many left
// something else. What was changed between calls, other than by a call, is taken from
// the versions that hold it. The instance is gone when Replay returns, and so is that
// of a killed one when the next workspace is opened.
func (m *SessionManager) Replay(ctx context.Context, r ReplayRequest) (differ int, err error) {
	info, err := m.store.Tip(ctx, r.Name)
	if err != nil {
		return 0, m.unknown(ctx, r.Name, err)
	}
	info.Name = r.Name
	passed := m.newGate(r.Approve)
	if err := passed.check(ctx, info); err != nil {
		return 0, err
	}
	p, err := m.plan(ctx, info)
	if err != nil || len(p.calls) == 0 {
		return 0, err
	}
	workspace, err := m.workspaceOf(ctx, r.Name)
	if err != nil {
		return 0, err
	}
	tip, err := m.tipOrNone(ctx, workspace)
	if err != nil {
		return 0, err
	}
	_, specs, err := m.permitted(ctx, info, workspace, tip, passed)
	if err != nil {
		return 0, err
	}
	live, err := m.around.Workspaces.Open(ctx, r.Name, plugins.Options{Specs: specs, Tip: &p.start, Temporary: true, Timeout: p.timeout})
	if err != nil {
		return 0, err
	}
	b := &bench{m: m, live: live, workspace: r.Name}
	defer func() { err = errors.Join(err, b.close(ctx)) }()
	at := p.start.ID
	for n, c := range p.calls {
		before, ok := p.before(c)
		if !ok {
			if before, err = m.foundBy(ctx, p, n, at); err != nil {
				return differ, err
			}
		}
		if before != at {
			v, err := m.store.Version(ctx, before)
			if err != nil {
				return differ, err
			}
			if err := live.Load(ctx, v); err != nil {
				return differ, err
			}
			at = before
		}
		now, err := b.again(ctx, c.block)
		if err != nil {
			return differ, err
		}
		if v, ok := p.versions[c.key()]; ok {
			at = v.ID
		}
		done := Replayed{c.message, c.index, recordedAs(c.outcome), recordedAs(now)}
		if !done.Same() {
			differ++
		}
		if r.Report != nil {
			r.Report(done)
		}
	}
	return differ, nil
}

// recordedAs is how an outcome is compared.
func recordedAs(o Outcome) string {
	if o.OK {
		return o.Version
	}
	return o.Code
}

// again makes a call and stores what it left, which nothing refers to.
func (b *bench) again(ctx context.Context, block domarkx.Block) (Outcome, error) {
	made := b.make(ctx, block)
	if made.result.Attachment != nil {
		made.result.Attachment.Close()
	}
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	if made.err != nil {
		return failed(made.err), nil
	}
	changes, err := b.live.Commit(ctx)
	if err != nil {
		return Outcome{}, err
	}
	changes.Abort()
	return Outcome{OK: true, Result: made.result.Value, Version: resourceVersion(changes.Resources, made.resource)}, nil
}

// A recordedCall is a call with its outcome.
type recordedCall struct {
	id      domarkx.ID
	message int
	index   int
	block   domarkx.Block
	outcome Outcome
	link    string // of its message
}

// A callPlace is a call as a version's commit names it.
type callPlace struct {
	message domarkx.ID
	index   int
}

func (c recordedCall) key() callPlace { return callPlace{c.id, c.index} }

// A replayPlan is what is to be replayed.
type replayPlan struct {
	start    domarkx.Version
	calls    []recordedCall
	versions map[callPlace]domarkx.Version // that calls left, without resources
	timeout  time.Duration
}

// before returns the version on which a call was made, when that is known.
func (p replayPlan) before(c recordedCall) (string, bool) {
	v, ok := p.versions[c.key()]
	if !ok || len(v.Parents) == 0 {
		return "", false
	}
	return v.Parents[0], true
}

// foundBy returns the version on which a call was made that left none of its own, after
// a call that left the version at: what was changed in between, other than by a call, is
// in one that came later.
func (m *SessionManager) foundBy(ctx context.Context, p replayPlan, n int, at string) (string, error) {
	c := p.calls[n]
	last := c.link
	for _, next := range p.calls[n+1:] {
		if next.id != c.id { // a session may have a hundred thousand calls
			break
		}
		if before, ok := p.before(next); ok {
			last = before
			break
		}
	}
	if last == at {
		return at, nil
	}
	reached, err := m.store.Version(ctx, at)
	if err != nil {
		return "", err
	}
	resource := ""
	if asked, err := parseCall(c.block.Text); err == nil && c.block.Language == toolCall {
		resource = asked.Resource
	}
	for id := last; ; {
		v, err := m.store.Version(ctx, id)
		if err != nil || v.Number <= reached.Number {
			return at, err
		}
		if !c.outcome.OK || slices.ContainsFunc(v.Resources, func(r domarkx.ResourceVersion) bool {
			return r.Version == c.outcome.Version && (r.ID == resource || resource == "")
		}) {
			return id, nil
		}
		if len(v.Parents) == 0 {
			return at, nil
		}
		id = v.Parents[0]
	}
}

// plan finds out what was recorded.
func (m *SessionManager) plan(ctx context.Context, info domarkx.Info) (p replayPlan, err error) {
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return p, err
	}
	h, err := loadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return p, err
	}
	if p.timeout, err = callTimeout(h); err != nil {
		return p, inSession(info.Name, err)
	}
	runs, err := m.languages(ctx, info)
	if err != nil {
		return p, err
	}
	if err := m.soundLinks(ctx, info.ID, state.Thread.Live); err != nil {
		return p, err
	}
	var links []string
	for k, e := range state.Thread.Live {
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := loadMessage(ctx, m.store, e)
		if err != nil {
			return p, err
		}
		if e.Link != "" {
			links = append(links, e.Link)
		}
		elsewhere, err := m.madeElsewhere(ctx, e.Link)
		if err != nil {
			return p, err
		}
		for i, s := range steps(msg, runs) {
			if elsewhere(s.block) {
				continue
			}
			if o := parseOutcome(s.result); s.done && (o.OK || o.Code != "") && e.Link != "" {
				p.calls = append(p.calls, recordedCall{e.ID, k, i, s.block, o, e.Link})
			}
		}
	}
	if len(p.calls) == 0 {
		return p, nil
	}
	return p, m.planVersions(ctx, info.ID, &p, links)
}

// planVersions finds out which call left which version, and with which to begin.
func (m *SessionManager) planVersions(ctx context.Context, snapshot string, p *replayPlan, links []string) error {
	seen := map[string]domarkx.Version{}
	var calls []domarkx.Version // the last first
	for _, link := range slices.Backward(links) {
		if _, ok := seen[link]; ok {
			continue
		}
		for v, err := range m.store.Versions(ctx, link) {
			if err != nil {
				return err
			}
			if _, ok := seen[v.ID]; ok {
				continue
			}
			seen[v.ID] = v
			if v.Call != nil {
				calls = append(calls, v)
			}
		}
	}
	calls, err := m.ownCalls(ctx, snapshot, calls)
	if err != nil {
		return err
	}
	own := map[string]bool{}
	p.versions = map[callPlace]domarkx.Version{}
	for _, v := range calls {
		own[v.ID] = true
		place := callPlace{v.Call.Message, v.Call.Index}
		if _, ok := p.versions[place]; !ok { // made more than once, the last counts
			p.versions[place] = v
		}
	}
	start, known := p.before(p.calls[0])
	if !known {
		start = lastBeforeCalls(seen, own, links[0])
	}
	p.start, err = m.store.Version(ctx, start)
	return err
}

// lastBeforeCalls returns the last version before any of these calls, of those that
// lead to a version.
func lastBeforeCalls(all map[string]domarkx.Version, calls map[string]bool, id string) string {
	last := id
	for v := all[id]; ; v = all[v.Parents[0]] {
		switch {
		case calls[v.ID] && len(v.Parents) > 0:
			last = v.Parents[0]
		case calls[v.ID]:
			last = v.ID
		}
		if len(v.Parents) == 0 {
			return last
		}
	}
}
