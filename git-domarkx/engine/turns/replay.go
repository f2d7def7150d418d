package turns

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/plugins/permit"
)

// A ReplayRequest names the session whose calls to repeat.
type ReplayRequest struct {
	Name    string
	Approve trust.Consent // see [RunRequest]
	Report  func(ReplayResult)
}

// ReplayResult is the result of repeating a recorded call. Recorded and Replayed are the resource
// version before and now, or the error code of a call that failed.
type ReplayResult struct {
	Message, Index     int
	Recorded, Replayed string
	NotComparable      bool // whether the call was not repeated, since it reaches what no version holds
}

// Same reports whether both calls had the same result.
func (r ReplayResult) Same() bool { return r.Recorded == r.Replayed }

// Replay repeats the recorded calls of a session in a temporary instance, starting from the version
// before the first call, and returns the number of calls with different results. Changes between
// calls are loaded from the versions that contain them. Resources whose calls are not replayed (see
// [domarkx.Description]) are not part of the instance. Replay removes the instance when it returns.
// If the process is killed, the next opened workspace removes it. If the user does not trust the
// session, the error is a [*trust.UntrustedError].
func (m *Manager) Replay(ctx context.Context, r ReplayRequest) (differ int, err error) {
	info, err := m.store.Tip(ctx, r.Name)
	if err != nil {
		return 0, err
	}
	info.Name = r.Name
	gate := m.trust.Gate(r.Approve)
	if _, err := gate.Permit(ctx, trust.Session{Info: info}); err != nil {
		return 0, err
	}
	p, err := m.plan(ctx, info)
	if err != nil || len(p.calls) == 0 {
		return 0, err
	}
	workspace, err := m.sessions.WorkspaceOf(ctx, r.Name)
	if err != nil {
		return 0, err
	}
	tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
	if err != nil {
		return 0, err
	}
	open := trust.Open{Session: trust.Session{Info: info}, Workspace: workspace, Tip: tip, In: permit.Temporary}
	permitted, err := gate.Permit(ctx, open)
	if err == nil && len(permitted.What().Resources) == 0 {
		err = errNoWorkspace(r.Name)
	}
	if err != nil {
		return 0, err
	}
	types, err := m.env.Workspaces.Types(ctx)
	if err != nil {
		return 0, err
	}
	run := &replayer{m: m, plan: p, types: types, gate: gate, permit: permitted, at: p.start.ID}
	defer func() { err = errors.Join(err, run.close(ctx)) }()
	for n := range p.calls {
		done, err := run.call(ctx, r.Name, n)
		if err != nil {
			return differ, err
		}
		if !done.NotComparable && !done.Same() {
			differ++
		}
		if r.Report != nil {
			r.Report(done)
		}
	}
	return differ, nil
}

// recordedAs returns the value by which outcomes are compared.
func recordedAs(o toolcall.Outcome) string {
	if o.OK {
		return o.Version
	}
	return o.Code
}

// again repeats a call and stores the new version without a reference.
func (b *openWorkspace) again(ctx context.Context, block domarkx.Block) (toolcall.Outcome, error) {
	p, err := b.mayMake(ctx, b.permit, block)
	made := b.make(ctx, block, p, err)
	if made.result.Attachment != nil {
		made.result.Attachment.Close()
	}
	if ctx.Err() != nil {
		return toolcall.Outcome{}, context.Cause(ctx)
	}
	if made.err != nil {
		return toolcall.Failed(made.err), nil
	}
	changes, err := b.live.Commit(ctx)
	if err != nil {
		return toolcall.Outcome{}, err
	}
	changes.Abort()
	return toolcall.Outcome{OK: true, Result: made.result.Value, Version: engine.ResourceVersion(changes.Resources, made.resource)}, nil
}

// A recordedCall is a call with its recorded outcome.
type recordedCall struct {
	id      domarkx.ID
	message int
	index   int
	block   domarkx.Block
	outcome toolcall.Outcome
	link    string // workspace version that its message links
}

// A callPlace identifies a call in the same way as the commits of versions.
type callPlace struct {
	message domarkx.ID
	index   int
}

func (c recordedCall) key() callPlace { return callPlace{c.id, c.index} }

// A replayPlan holds the calls to replay.
type replayPlan struct {
	start    domarkx.Version
	calls    []recordedCall
	versions map[callPlace]domarkx.Version // call → version that it created, without resources
	timeout  time.Duration
}

// before returns the version on which a call ran. ok is false if it is unknown.
func (p replayPlan) before(c recordedCall) (string, bool) {
	v, ok := p.versions[c.key()]
	if !ok || len(v.Parents) == 0 {
		return "", false
	}
	return v.Parents[0], true
}

// foundBy returns the version on which call n ran, for a call that created no version of its own.
// at is the version after the previous call. If there were manual changes between the two calls,
// the result is a later version.
func (m *Manager) foundBy(ctx context.Context, p replayPlan, n int, at string) (string, error) {
	c := p.calls[n]
	last := c.link
	for _, next := range p.calls[n+1:] {
		if next.id != c.id { // limits the search: a session may have a hundred thousand calls
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
	reached, err := m.store.VersionOrStub(ctx, at)
	if err != nil {
		return "", err
	}
	resource := ""
	if asked, err := toolcall.Parse(c.block.Text); err == nil && c.block.Language == toolcall.Language {
		resource = asked.Resource
	}
	for id := last; ; {
		v, err := m.store.VersionOrStub(ctx, id)
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

// plan collects the recorded calls of a session.
func (m *Manager) plan(ctx context.Context, info domarkx.Info) (p replayPlan, err error) {
	state, err := m.store.Load(ctx, info.ID)
	if err != nil {
		return p, err
	}
	h, err := view.LoadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return p, err
	}
	if p.timeout, err = trust.CallTimeout(h); err != nil {
		return p, trust.InSession(info.Name, err)
	}
	runs, err := m.languages(ctx, info)
	if err != nil {
		return p, err
	}
	if err := m.sessions.SoundLinks(ctx, info.ID, state.Thread.Live); err != nil {
		return p, err
	}
	var links []string
	for k, e := range state.Thread.Live {
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := view.LoadMessage(ctx, m.store, e)
		if err != nil {
			return p, err
		}
		if e.Link != "" {
			links = append(links, e.Link)
		}
		elsewhere, err := m.sessions.MadeElsewhere(ctx, e.Link)
		if err != nil {
			return p, err
		}
		for i, s := range toolcall.Steps(msg, runs) {
			if s.Declined || elsewhere(s.Block) {
				continue
			}
			if o := toolcall.ParseOutcome(s.Result); s.Done && (o.OK || o.Code != "") && e.Link != "" {
				p.calls = append(p.calls, recordedCall{e.ID, k, i, s.Block, o, e.Link})
			}
		}
	}
	if len(p.calls) == 0 {
		return p, nil
	}
	return p, m.planVersions(ctx, info.ID, &p, links)
}

// planVersions finds the version that each call created and the version to start with.
func (m *Manager) planVersions(ctx context.Context, snapshot string, p *replayPlan, links []string) error {
	seen := map[string]domarkx.Version{}
	var calls []domarkx.Version // newest first
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
	calls, err := m.sessions.OwnCalls(ctx, snapshot, calls)
	if err != nil {
		return err
	}
	own := map[string]bool{}
	p.versions = map[callPlace]domarkx.Version{}
	for _, v := range calls {
		own[v.ID] = true
		place := callPlace{v.Call.Message, v.Call.Index}
		if _, ok := p.versions[place]; !ok { // if a call was repeated, its last version counts
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

// lastBeforeCalls follows first parents from id and returns the version before the earliest of
// the calls.
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
