// Package replay repeats the recorded calls of a session in a temporary instance of its workspace, and says whether they
// leave the same. It stores nothing.
package replay

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/plugins/permit"
)

// A Request names the session whose calls to repeat.
type Request struct {
	Name    string
	Approve trust.Consent // see [turns.RunRequest]
	Report  func(Result)
}

// Result is the result of repeating a recorded call. Recorded and Replayed are the resource
// version before and now, or the error code of a call that failed.
type Result struct {
	Message, Index     int
	Recorded, Replayed string
	NotComparable      bool // whether the call was not repeated, since it reaches what no version holds
}

// Same reports whether both calls had the same result.
func (r Result) Same() bool { return r.Recorded == r.Replayed }

// A Manager repeats the calls of the sessions in a store.
type Manager struct {
	sessions *engine.SessionManager
	trust    *trust.Manager
	store    *gitstore.Store
	env      local.Environment
}

// New returns a manager for the sessions in a store.
func New(sessions *engine.SessionManager, trust *trust.Manager, store *gitstore.Store, env local.Environment) *Manager {
	return &Manager{sessions, trust, store, env}
}

// Replay repeats the recorded calls of a session in a temporary instance, starting from the version before the first call,
// and returns the number of calls with different results. Changes between calls are loaded from the versions that contain
// them. Resources whose calls are not replayed (see [domarkx.Description]) are not part of the instance. Replay removes the
// instance when it returns. If the process is killed, the next opened workspace removes it. If the user does not trust the
// session, the error is a [*trust.UntrustedError].
func (m *Manager) Replay(ctx context.Context, r Request) (differ int, err error) {
	info, err := m.store.Tip(ctx, r.Name)
	if err != nil {
		return 0, err
	}
	gate := m.trust.Gate(r.Approve)
	if _, err := gate.Permit(ctx, trust.Session{Info: info}); err != nil {
		return 0, err
	}
	p, err := m.planOf(ctx, info)
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
		err = engine.NoWorkspace(r.Name)
	}
	if err != nil {
		return 0, err
	}
	types, err := m.env.Workspaces.Types(ctx)
	if err != nil {
		return 0, err
	}
	run := &replayer{Manager: m, plan: p, types: types, gate: gate, permit: permitted, at: p.start.ID}
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

// A recordedCall is a call with its recorded outcome.
type recordedCall struct {
	callPlace
	number  int // of the message
	block   domarkx.Block
	outcome toolcall.Outcome
	link    string // workspace version that its message links
}

// A callPlace identifies a call in the same way as the commits of versions.
type callPlace struct {
	message domarkx.ID
	index   int
}

// A plan holds the calls to replay.
type plan struct {
	start    domarkx.Version
	calls    []recordedCall
	versions map[callPlace]domarkx.Version // call → version that it created, without resources
	timeout  time.Duration
}

// before returns the version on which a call ran. ok is false if it is unknown.
func (p plan) before(c recordedCall) (string, bool) {
	v, ok := p.versions[c.callPlace]
	if !ok || len(v.Parents) == 0 {
		return "", false
	}
	return v.Parents[0], true
}

// foundBy returns the version on which call n ran, for a call that created no version of its own. at is the version after
// the previous call. If there were manual changes between the two calls, the result is a later version.
func (m *Manager) foundBy(ctx context.Context, p plan, n int, at string) (string, error) {
	c := p.calls[n]
	last := c.link
	for _, next := range p.calls[n+1:] {
		if next.message != c.message { // limits the search: a session may have a hundred thousand calls
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
func (m *Manager) planOf(ctx context.Context, info domarkx.Info) (p plan, err error) {
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
	runs, err := m.trust.Languages(ctx, info)
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
				p.calls = append(p.calls, recordedCall{callPlace{e.ID, i}, k, s.Block, o, e.Link})
			}
		}
	}
	if len(p.calls) == 0 {
		return p, nil
	}
	return p, m.planVersions(ctx, info.ID, &p, links)
}

// planVersions finds the version that each call created and the version to start with.
func (m *Manager) planVersions(ctx context.Context, snapshot string, p *plan, links []string) error {
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

// lastBeforeCalls follows first parents from id and returns the version before the earliest of the calls.
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
