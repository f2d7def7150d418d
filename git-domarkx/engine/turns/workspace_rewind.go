package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/plugins/permit"
)

// RewindResult describes the snapshots before and after a rewind, and the new version of the workspace.
type RewindResult struct {
	Now, Before domarkx.Info // rewinding to Before undoes the rewind
	// Workspace is the new version of the workspace; zero if the workspace did not move.
	Workspace domarkx.Version
	Asleep    *trust.UntrustedError // why the live workspace was not updated, or nil
}

// Rewind creates a snapshot on top of a session with the contents of an earlier one, or with the
// messages up to r.Message. It commits the changes of the session's workspace and then restores the
// workspace's state of that time. The parents of the snapshot include the version before the rewind
// and the restored one. The errors are those of [engine.SessionManager.Resolve].
func (m *Manager) Rewind(ctx context.Context, r engine.Revision) (RewindResult, error) {
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return RewindResult{}, err
	}
	if _, err := m.sessions.Resolve(ctx, r); err != nil {
		return RewindResult{}, err
	}
	c := engine.Change{Name: r.Name, Operation: "rewind", Author: author, Committer: committer}
	workspace, err := m.sessions.WorkspaceOf(ctx, r.Name)
	if err != nil {
		return RewindResult{}, err
	}
	b, err := m.hold(ctx, workspace)
	if err != nil {
		return RewindResult{}, err
	}
	if b != nil {
		defer b.close(ctx)
	}
	var done RewindResult
	err = m.sessions.Update(ctx, "rewind "+r.String(), func(tx *transaction.Tx) error {
		done, err = m.rewind(ctx, tx, r, workspace, c)
		return err
	})
	if err != nil {
		return done, err
	}
	done.Now.Name = r.Name
	if b != nil && done.Workspace.ID == "" { // after a kill, the live workspace may be out of date
		tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
		if err != nil {
			return done, err
		}
		if head := b.live.Head(); head != "" && head != tip.ID {
			done.Workspace = tip
		}
	}
	if b == nil || done.Workspace.ID == "" {
		return done, nil
	}
	p, err := b.permitFor(ctx, done.Now, done.Workspace)
	if untrusted, ok := errors.AsType[*trust.UntrustedError](err); ok {
		done.Asleep = untrusted
		return done, nil
	}
	if err == nil {
		err = b.live.Load(ctx, p, done.Workspace)
	}
	if err != nil {
		return done, fmt.Errorf("the session and its workspace %q were rewound, but the live workspace was not: %w; the next call tries again", workspace, err)
	}
	return done, nil
}

func (m *Manager) rewind(ctx context.Context, tx *transaction.Tx, r engine.Revision, workspace string, c engine.Change) (RewindResult, error) {
	before, err := tx.Tip(ctx, r.Name)
	if err != nil {
		return RewindResult{}, err
	}
	target, err := m.sessions.Resolve(ctx, r)
	if err != nil {
		return RewindResult{}, err
	}
	state, err := m.store.Load(ctx, before.ID)
	if err != nil {
		return RewindResult{}, err
	}
	wanted := state
	if target.ID != before.ID {
		if wanted, err = m.store.Load(ctx, target.ID); err != nil {
			return RewindResult{}, err
		}
	}
	done := RewindResult{Now: before, Before: before}
	left, err := tx.WorkspaceTipOrNone(ctx, workspace)
	if err != nil {
		return RewindResult{}, err
	}
	var linked []string
	if left.ID != "" {
		if done.Workspace, err = m.rewindWorkspace(ctx, tx, rewinding{r, before, target, state, wanted, left}, c); err != nil {
			return RewindResult{}, err
		}
		if done.Workspace.ID != "" {
			linked = []string{left.ID, done.Workspace.ID}
		}
	}
	if linked == nil && target.ID == before.ID && (r.Message < 0 || r.Message == before.Messages-1) {
		return done, nil
	}
	if err := m.sessions.Revert(ctx, state, wanted, r.Message); err != nil {
		return RewindResult{}, err
	}
	extend, err := m.trust.Keep(ctx, r.Name, state, before)
	if err != nil {
		return RewindResult{}, err
	}
	if done.Now, err = m.sessions.ContinueWith(ctx, tx, before, state, c, "rewind to "+r.String(), linked...); err != nil {
		return RewindResult{}, err
	}
	return done, tx.Set(ctx, r.Name, done.Now, extend)
}

// permitFor returns the permit to load the newest version of a session's workspace, if the user trusts the session.
func (b *openWorkspace) permitFor(ctx context.Context, session domarkx.Info, tip domarkx.Version) (p permit.Permit, err error) {
	b.session, b.gate = session.Name, b.m.trust.Gate(trust.Consent{})
	if b.permit, err = b.m.permitted(ctx, b.gate, trust.Session{Info: session}, tip.Workspace, tip); err != nil {
		return p, err
	}
	return b.mayLoad(ctx, tip)
}

// A rewinding holds the start and the target of a rewind.
type rewinding struct {
	to             engine.Revision
	before, target domarkx.Info
	state, wanted  *domarkx.State
	left           domarkx.Version // tip of the workspace
}

// rewindWorkspace commits a version with the workspace's state at the target. It returns a zero
// version if the workspace already has that state.
func (m *Manager) rewindWorkspace(ctx context.Context, tx *transaction.Tx, r rewinding, c engine.Change) (domarkx.Version, error) {
	id, err := m.versionBehind(ctx, r)
	if err != nil || id == "" {
		return domarkx.Version{}, err
	}
	then, err := m.store.Version(ctx, id)
	if err != nil || sameVersions(then.Resources, r.left.Resources) {
		return domarkx.Version{}, err
	}
	v, err := tx.CommitVersion(ctx, r.left.Workspace, domarkx.VersionCommit{Parents: []string{r.left.ID}, Resources: then.Resources,
		Operation: c.Operation, Subject: "rewind to " + r.to.String(), Author: c.Author, Committer: c.Committer})
	if err != nil {
		return v, err
	}
	v.Workspace, v.Resources = r.left.Workspace, then.Resources
	return v, tx.SetWorkspace(ctx, r.left.Workspace, v.ID)
}

// versionBehind returns the version of the workspace at the target of a rewind.
func (m *Manager) versionBehind(ctx context.Context, r rewinding) (string, error) {
	id, err := "", error(nil)
	if r.to.Message < 0 {
		id, err = m.sessions.StateAt(ctx, r.before, r.target)
	} else {
		id, err = m.sessions.LinkAt(ctx, r.target.ID, r.to.Message)
	}
	if err != nil || id != "" {
		return id, err
	}
	gone := map[domarkx.ID]bool{}
	for _, e := range slices.Concat(r.state.Thread.Live, r.wanted.Thread.Live) {
		gone[e.ID] = true
	}
	for k, e := range r.wanted.Thread.Live {
		if r.to.Message < 0 || k <= r.to.Message {
			delete(gone, e.ID)
		}
	}
	return m.sessions.BeforeCalls(ctx, r.before.ID, r.left.ID, gone)
}
