package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// A pull is the state of a running pull.
type pull struct {
	m *Manager
	fetchResult
	accept bool                // accept redacted histories without a check
	going  map[string][]string // session → workspaces to pull with it
	all    map[string]string   // session → its workspace here, if that has another name
}

// A PullRequest describes what to pull from a remote.
type PullRequest struct {
	Remote          string
	Names           []string // sessions; none means all
	AcceptRedaction bool     // accept a redacted history without checking that it differs only in secrets
}

// Pull fetches and applies the changes of a remote, including workspaces. Sessions that changed on
// both sides are merged. A session that was removed on the remote and has not changed here is moved
// to the trash. Errors of single sessions are in their results.
func (m *Manager) Pull(ctx context.Context, r PullRequest, progress io.Writer) ([]Result, error) {
	remote, names := r.Remote, r.Names
	here, err := m.here(ctx)
	if err != nil {
		return nil, err
	}
	fetched, err := m.fetch(ctx, remote, names, progress)
	if err != nil {
		return nil, err
	}
	before, after := fetched.Before, fetched.After
	if err := m.recallRemoved(remote, before); err != nil {
		return nil, err
	}
	p := pull{m: m, fetchResult: fetched, accept: r.AcceptRedaction}
	these := fetched.chosen(names)
	if err := p.choose(ctx, these, here); err != nil {
		return nil, err
	}
	var results []Result
	var tips []domarkx.Info // the tips before the pull
	for _, name := range these {
		was, err := m.store.TipOrNone(ctx, name)
		if _, ok := errors.AsType[*engine.PendingError](err); ok {
			results = append(results, Result{Name: name, Status: engine.Pending, Failed: true})
			continue
		}
		if err != nil {
			return results, err
		}
		received, err := p.receive(ctx, r.Remote, name)
		if errors.Is(err, ErrNotSame) {
			m.sessions.Warn(fmt.Errorf("session %q: the remote's history was redacted, or versions in it expired, but %w; nothing was changed here; pull with --accept-redaction to take it", name, err))
			results = append(results, Result{Name: name, Status: Refused, Failed: true})
			continue
		}
		if err != nil {
			return results, err
		}
		var status string
		err = m.sessions.Update(ctx, "pull "+name, func(tx *transaction.Tx) error {
			status, err = p.one(ctx, tx, name)
			return err
		})
		if err != nil {
			if ctx.Err() != nil {
				return results, err
			}
			results = append(results, rejected(name, err))
			continue
		}
		if received.Replaced && status == UpToDate {
			status = "updated"
		}
		results = append(results, Result{Name: name, Status: status, Failed: status == notThere || status == engine.Conflict,
			Redacted: received.Replaced && !received.Expired, Expired: received.Expired})
		was.Name = name
		tips = append(tips, was)
	}
	if err := m.followPulled(ctx, tips, here.Workspaces); err != nil {
		return results, err
	}
	if len(names) > 0 { // keep the other removals for the next pull
		for _, refs := range []map[string]string{before.Sessions, before.Workspaces} {
			maps.DeleteFunc(refs, func(name, _ string) bool { return slices.Contains(names, name) })
		}
		return results, m.rememberRemoved(remote, before, after)
	}
	return results, m.rememberRemoved(remote, Tips{}, after)
}

// choose finds the workspaces to pull with the sessions.
func (p *pull) choose(ctx context.Context, names []string, here Tips) (err error) {
	if p.all, err = p.m.sessions.Attached(ctx); err != nil {
		return err
	}
	sessions := make(map[string]string, len(names))
	for _, name := range names {
		sessions[name] = p.After.Sessions[name]
	}
	p.going, err = peers{m: p.m, assigned: p.all, tips: p.After, known: here.ids()}.of(ctx, sessions)
	return err
}

const notThere = "not there"

// Refused is the status of a session whose redacted history differs from the one here in more than secrets.
const Refused = "refused"

// receive takes over the remote's redaction of a session, and what expired there.
func (p *pull) receive(ctx context.Context, from, name string) (Received, error) {
	now := p.After.Sessions[name]
	if now == "" || p.rejection(name, append(p.going[name], p.all[name])...) != nil {
		return Received{}, nil
	}
	place, err := remote.Find(ctx, p.m.store.Git(), from)
	if err != nil {
		return Received{}, err
	}
	received, err := p.m.redacted.Receive(ctx, Incoming{Ref: place.Tracking(refname.Sessions.Ref(name)), ID: now, Redacted: true, Accept: p.accept})
	if err == nil && (received.Moved || received.Replaced) { // the workspaces of the session have moved with it
		tracked, err := p.m.Tracked(ctx, from)
		if err != nil {
			return received, err
		}
		p.After = tracked
	}
	p.After.Sessions[name] = received.ID
	return received, err
}

// one pulls one session and its workspaces, and returns the status.
func (p *pull) one(ctx context.Context, tx *transaction.Tx, name string) (string, error) {
	if err := p.rejection(name, append(p.going[name], p.all[name])...); err != nil {
		return "", err
	}
	before, now := p.Before.Sessions[name], p.After.Sessions[name]
	tip, err := tx.TipOrNone(ctx, name)
	if err != nil {
		return "", err
	}
	here := tip.ID != ""
	switch {
	case now == "" && before == "":
		return notThere, nil
	case now == "":
		return p.removedThere(ctx, tx, name, here && tip.ID == before, here)
	case !here:
		if removed, err := p.m.removedHere(ctx, name, now); err != nil || removed {
			return "removed here", err
		}
	}
	status, err := p.m.pullSession(ctx, tx, name, tip, now)
	if err != nil {
		return "", err
	}
	if tip, err = tx.Tip(ctx, name); err != nil {
		return "", err
	}
	for _, workspace := range p.going[name] {
		changed, err := p.workspace(ctx, tx, workspace, tip, !here)
		if err != nil {
			return "", err
		}
		if changed && status == UpToDate {
			status = "updated"
		}
	}
	return status, nil
}

// removedThere removes a session that was removed on the remote, unless it has changed here since.
func (p *pull) removedThere(ctx context.Context, tx *transaction.Tx, name string, unchanged, here bool) (string, error) {
	before, now := p.Before.Workspaces[name], p.After.Workspaces[name]
	workspace, err := tx.WorkspaceTipOrNone(ctx, name)
	if err != nil {
		return "", err
	}
	own := workspace.ID != "" && now == "" && !p.shared(name) // the workspace is removed together with the session
	switch {
	case unchanged && (!own || workspace.ID == before):
		err = tx.ToTrash(ctx, name)
		if err == nil && own {
			err = tx.WorkspaceToTrash(ctx, name)
		}
		return "removed there, moved to the trash", err
	case here:
		return "removed there, kept: it changed here", nil
	case own && workspace.ID == before:
		return "removed on both sides", tx.WorkspaceToTrash(ctx, name)
	}
	return "removed on both sides", nil
}

// shared reports whether other sessions work in the workspace with that name.
func (p *pull) shared(name string) bool {
	for session, workspace := range p.all {
		if workspace == name && session != name {
			return true
		}
	}
	return false
}

// pullSession updates a session to a snapshot from a remote. tip is the newest local snapshot;
// its ID is empty if the session does not exist here.
func (m *Manager) pullSession(ctx context.Context, tx *transaction.Tx, name string, tip domarkx.Info, now string) (string, error) {
	state, err := compare(ctx, m.store.IsAncestor, tip.ID, now)
	switch {
	case err != nil:
		return "", err
	case state == onlyThere:
		if err := tx.CheckName(ctx, name); err != nil {
			return "", err
		}
		return "new", tx.Set(ctx, name, domarkx.Info{ID: now}, trust.Unchanged)
	case state == behind:
		return "updated", tx.Set(ctx, name, domarkx.Info{ID: now}, trust.Unchanged)
	case state == ahead:
		return ahead, nil
	case state == "":
		return UpToDate, nil
	}
	sides := [2]engine.MergeSide{}
	for i, id := range []string{tip.ID, now} {
		if sides[i].Info, err = m.store.Info(ctx, id); err != nil {
			return "", err
		}
		if sides[i].State, err = m.store.Load(ctx, id); err != nil {
			return "", err
		}
	}
	merged, err := m.sessions.Merge(ctx, tx, sides[0], sides[1])
	if err != nil {
		return "", err
	}
	joined, err := tx.Load(ctx, merged.ID)
	if err != nil {
		return "", err
	}
	return engine.MergeStatus(joined), tx.Set(ctx, name, merged, trust.Unchanged)
}

// removedHere reports whether the session was removed or renamed here after it contained the snapshot id.
func (m *Manager) removedHere(ctx context.Context, name, id string) (bool, error) {
	trashed, err := m.store.Trashed(refname.Sessions, name)
	if err != nil {
		return false, err
	}
	for _, removed := range trashed {
		if all, err := m.store.IsAncestor(ctx, id, removed); err != nil || all {
			return all, err
		}
	}
	return m.renamedHere(ctx, name, id)
}
