package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// A PushRequest describes what to send.
type PushRequest struct {
	Remote       string
	Names        []string  // sessions; none means those on the remote and those pushed before
	All          bool      // every session
	AllowIgnored bool      // send versions with files that the repository ignores
	Secrets      Inspector // keeps back sessions with secrets; nil sends secrets, too
}

// A push is the state of a running push.
type push struct {
	place          remote.Remote
	m              *Manager
	tracked, local Tips
	results        map[string]Result // results of sessions that are not sent, and of those sent so far
	send           Tips
	carrier        map[string]string // workspace to send → session that it belongs to
}

// Push sends sessions and their workspaces to a remote, but not those that the request's inspector keeps
// back. It removes sessions there that were removed here. If a version to send contains files that the repository ignores, it sends nothing
// and returns an [*IgnoredError].
func (m *Manager) Push(ctx context.Context, r PushRequest, progress io.Writer) ([]Result, error) {
	p, names, err := m.beginPush(ctx, r, progress)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if err := p.session(ctx, name); err != nil {
			return nil, err
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return p.results[name].isAlone() })
	if err := p.workspaces(ctx, names); err != nil {
		return nil, err
	}
	rejected := false
	for _, e := range p.results {
		rejected = rejected || e.Failed && !e.isAlone()
	}
	var cleared outgoing
	if !rejected {
		if cleared, err = p.inspect(ctx, r.Secrets); err != nil {
			return nil, err
		}
	}
	switch nothing := len(p.send.Sessions)+len(p.send.Workspaces) == 0; {
	case rejected:
		for name := range p.send.Sessions {
			if !p.results[name].Failed {
				p.results[name] = Result{Name: name, Status: NotSent, Failed: true}
			}
		}
	case nothing:
	default:
		if !r.AllowIgnored {
			if err := p.checkIgnored(ctx); err != nil {
				return nil, err
			}
		}
		var said Tips
		said, err = m.pushRefs(ctx, r.Remote, cleared, progress) // on error, report the known results of the aborted push
		p.record(said)
	}
	results := make([]Result, 0, len(p.results))
	for _, name := range slices.Sorted(maps.Keys(p.results)) {
		results = append(results, p.results[name])
	}
	return results, err
}

// beginPush collects the local and the remote tips, and the names of the sessions to push.
func (m *Manager) beginPush(ctx context.Context, r PushRequest, progress io.Writer) (*push, []string, error) {
	p := &push{m: m, results: map[string]Result{}, carrier: map[string]string{}, send: newTips()}
	var err error
	if p.place, err = remote.Find(ctx, m.store.Git(), r.Remote); err != nil {
		return nil, nil, err
	}
	if p.tracked, err = m.Tracked(ctx, r.Remote); err != nil {
		return nil, nil, err
	}
	if len(r.Names) == 0 && !r.All && len(p.tracked.Sessions) == 0 {
		fetched, err := m.fetch(ctx, r.Remote, nil, progress)
		if err != nil {
			return nil, nil, err
		}
		p.tracked = fetched.After
	}
	if p.local, err = m.here(ctx); err != nil {
		return nil, nil, err
	}
	switch {
	case len(r.Names) > 0:
		return p, r.Names, nil
	case r.All:
		refs, err := m.store.Refs()
		damaged, damagedErr := m.store.Damaged()
		return p, append(chosen(nil, refs, p.tracked.Sessions), damaged...), cmp.Or(err, damagedErr)
	}
	names, err := m.withNewNames(chosen(nil, p.tracked.Sessions), p.local.Sessions)
	return p, names, err
}

// session decides whether to send a session.
func (p *push) session(ctx context.Context, name string) error {
	_, unread := p.m.store.Tip(ctx, name)
	if _, ok := errors.AsType[*engine.PendingError](unread); ok {
		p.results[name] = Result{Name: name, Status: engine.Pending, Failed: true}
		return nil
	}
	local := p.local.Sessions[name]
	if local == "" && unread != nil {
		if here, err := p.m.store.HasSession(name); here || errors.Is(err, domarkx.ErrCorrupt) { // so it was not removed here
			p.m.sessions.Warn(fmt.Errorf("session %q is not sent: %w; git domarkx fsck says more", name, unread))
			p.keep(name, Damaged)
			return nil
		}
	}
	tracked := p.tracked.Sessions[name]
	state, err := compare(ctx, p.m.store.IsAncestor, local, tracked)
	send := state == ahead
	kept := Result{Name: name, Status: "rejected: the remote has changes that are not here; run git domarkx pull first", Failed: true}
	switch {
	case err != nil:
	case local == "" && tracked == "":
		err = fmt.Errorf("session %q: %w", name, domarkx.ErrNoSession)
	case state == "":
		send, kept = p.replaces(refname.Sessions.Ref(name), local, tracked), Result{Name: name, Status: UpToDate}
	case state == onlyThere:
		kept = Result{Name: name, Status: onlyThere}
		send, err = p.m.removedHere(ctx, name, tracked)
	}
	if err != nil {
		return err
	}
	if !send {
		p.results[name] = kept
		return nil
	}
	replaced, err := p.refuseReplaced(ctx, name, local)
	if err == nil && !replaced {
		p.send.Sessions[name] = local
	}
	return err
}

// replaces reports whether a reference must be sent only because the remote still has the commit
// that a redaction replaced here.
func (p *push) replaces(ref, local, tracked string) bool {
	return local != "" && local == tracked && p.m.there(p.place.Tracking(ref), tracked) != tracked
}

const holdsReplaced = "rejected: its history holds what a redaction replaced; run git domarkx redact, or remove it"

// refuseReplaced rejects a session if the history of tip, which would be sent with it, contains a
// commit that a redaction replaced. It reports whether it rejected the session.
func (p *push) refuseReplaced(ctx context.Context, session, tip string) (bool, error) {
	if tip == "" || !p.m.store.HasReplacements() {
		return false, nil
	}
	replaced, err := p.m.store.Replacements()
	if err != nil {
		return false, err
	}
	sent, err := p.m.store.Commits(ctx, []string{tip}, nil)
	if err != nil || !slices.ContainsFunc(sent, func(id string) bool { return replaced[id] != "" }) {
		return false, err
	}
	p.results[session] = Result{Name: session, Status: holdsReplaced, Failed: true}
	return true, nil
}

// workspaces chooses the workspaces to send with the sessions.
func (p *push) workspaces(ctx context.Context, names []string) error {
	assigned, err := p.m.sessions.Attached(ctx)
	if err != nil {
		return err
	}
	sessions := map[string]string{}
	for _, name := range names {
		if _, removed := p.send.Sessions[name]; removed || p.local.Sessions[name] != "" {
			sessions[name] = p.local.Sessions[name]
		}
	}
	going, err := peers{m: p.m, assigned: assigned, tips: p.local, known: p.tracked.ids()}.of(ctx, sessions)
	if err != nil {
		return err
	}
	for session, workspaces := range going {
		for _, workspace := range workspaces {
			if err := p.workspace(ctx, session, workspace); err != nil {
				return err
			}
		}
	}
	return nil
}

// workspace decides whether to send a workspace with a session.
func (p *push) workspace(ctx context.Context, session, name string) error {
	local, tracked := p.local.Workspaces[name], p.tracked.Workspaces[name]
	state, err := compare(ctx, p.m.store.IsEarlier, local, tracked)
	send := state == ahead
	switch {
	case err != nil:
	case state == "":
		send = p.replaces(refname.Workspaces.Ref(name), local, tracked)
	case state == onlyThere:
		send, err = p.m.workspaceRemovedHere(ctx, name, tracked)
	case state == diverged:
		p.results[session] = Result{Name: session, Status: "rejected: the workspace has changes at the remote that are not here; run git domarkx pull first", Failed: true}
	}
	if err != nil {
		return err
	}
	if send {
		replaced, err := p.refuseReplaced(ctx, session, local)
		if err != nil || replaced {
			return err
		}
		p.send.Workspaces[name], p.carrier[name] = local, session
	}
	return nil
}

// record stores the statuses that a push returned.
func (p *push) record(said Tips) {
	for name, status := range said.Sessions {
		p.results[name] = Result{Name: name, Status: status, Failed: strings.HasPrefix(status, "rejected")}
	}
	for workspace, status := range said.Workspaces {
		name := p.carrier[workspace]
		e := p.results[name]
		switch {
		case e.Failed && (e.Status != NotSent || status == NotSent):
		case strings.HasPrefix(status, "rejected"):
			p.results[name] = Result{Name: name, Status: status, Failed: true}
		case e.Status == UpToDate && status != UpToDate:
			p.results[name] = Result{Name: name, Status: "updated"}
		}
	}
}
