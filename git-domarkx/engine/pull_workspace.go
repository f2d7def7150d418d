package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
)

// workspace brings a workspace up to what the remote has now, and reports whether
// that was anything new. session is the tip, after the pull, of the session that it
// goes with.
func (p *pull) workspace(ctx context.Context, tx Tx, name string, session domarkx.Info) (bool, error) {
	before, now := p.Before.Workspaces[name], p.After.Workspaces[name]
	tip, err := tx.WorkspaceTip(ctx, name)
	here := err == nil
	if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		return false, err
	}
	switch {
	case now == "" && before != "" && here && tip.ID == before && !p.shared(name):
		return true, tx.WorkspaceToTrash(ctx, name)
	case now == "", here && tip.ID == now:
		return false, nil
	case !here:
		if removed, err := p.m.workspaceRemovedHere(ctx, name, now); err != nil || removed {
			return false, err
		}
		return true, p.m.acceptWorkspace(ctx, tx, domarkx.Version{Workspace: name}, now)
	}
	behind, err := p.m.store.IsEarlier(ctx, tip.ID, now)
	if err != nil {
		return false, err
	}
	if behind {
		return true, p.m.acceptWorkspace(ctx, tx, tip, now)
	}
	ahead, err := p.m.store.IsEarlier(ctx, now, tip.ID)
	if err != nil || ahead {
		return false, err
	}
	theirs, err := p.m.checkedVersion(ctx, tip, now)
	if err != nil {
		return false, err
	}
	joined, err := p.m.joinVersions(ctx, tx, name, session, tip, theirs)
	if err != nil {
		return false, err
	}
	return true, tx.SetWorkspace(ctx, name, joined.ID)
}

// acceptWorkspace points a workspace, whose newest version is tip, at a version that
// came from elsewhere.
func (m *SessionManager) acceptWorkspace(ctx context.Context, tx Tx, tip domarkx.Version, id string) error {
	if _, err := m.checkedVersion(ctx, tip, id); err != nil {
		return err
	}
	return tx.SetWorkspace(ctx, tip.Workspace, id)
}

// checkedVersion returns a version that came from elsewhere, once it is known to be one
// that can be read where it differs from tip: else no call could be made any more.
func (m *SessionManager) checkedVersion(ctx context.Context, tip domarkx.Version, id string) (domarkx.Version, error) {
	v, err := m.store.Version(ctx, id)
	if err != nil {
		return v, err
	}
	before := map[string]string{}
	for _, r := range tip.Resources {
		before[r.ID] = r.Version
	}
	for _, r := range v.Resources {
		if err := m.checkResource(ctx, before[r.ID], r); err != nil {
			return v, fmt.Errorf("workspace version %.12s: %w", id, err)
		}
	}
	return v, nil
}

// checkResource refuses a version of a resource that nobody gets through, or that its
// plugin never makes. Of base, another one or "", all is known already.
func (m *SessionManager) checkResource(ctx context.Context, base string, r domarkx.ResourceVersion) error {
	if r.Version == base {
		return nil
	}
	err := m.store.CheckVersion(ctx, base, r.Version)
	if err == nil {
		err = m.around.Workspaces.CheckVersion(ctx, r)
	}
	if err != nil {
		return fmt.Errorf("resource %q: %w", r.ID, err)
	}
	return nil
}

// joinVersions commits the version that follows two of which neither is before the
// other. Workspaces are not merged: it holds what the last message of the session
// left that is linked to one of the two or to what is before them, else what the
// one with the greater number holds. It follows from the two and the session alone,
// so that everybody who joins them makes the same one.
func (m *SessionManager) joinVersions(ctx context.Context, tx Tx, name string, session domarkx.Info, a, b domarkx.Version) (domarkx.Version, error) {
	if b.ID < a.ID {
		a, b = b, a
	}
	kept := b
	if a.Number > b.Number {
		kept = a
	}
	link, err := m.lastLink(ctx, tx, session.ID, a.ID, b.ID)
	if err != nil {
		return domarkx.Version{}, err
	}
	if link != "" {
		if kept, err = m.store.Version(ctx, link); err != nil {
			return domarkx.Version{}, err
		}
	}
	merger := mergerAt(max(a.Date, b.Date))
	return tx.CommitVersion(ctx, name, domarkx.VersionCommit{
		Parents:   []string{a.ID, b.ID},
		Resources: kept.Resources,
		Operation: "merge",
		Subject:   fmt.Sprintf("merge %.12s and %.12s", a.ID, b.ID),
		Author:    merger,
		Committer: merger,
	})
}

// lastLink returns the link of the last message of a snapshot that is linked to one
// of the versions or to one before them; "" when there is none. A link counts only
// when the version is a parent in the session's history.
func (m *SessionManager) lastLink(ctx context.Context, tx Readings, snapshot string, versions ...string) (string, error) {
	state, err := tx.Load(ctx, snapshot)
	if err != nil {
		return "", err
	}
	var links []string
	for _, e := range slices.Backward(state.Thread.Live) {
		if e.Link != "" && !slices.Contains(links[max(0, len(links)-1):], e.Link) {
			links = append(links, e.Link)
		}
	}
	linked, err := tx.Linked(ctx, snapshot, links)
	if err != nil {
		return "", err
	}
	for _, link := range links {
		if !linked[link] {
			continue
		}
		for _, version := range versions {
			if before, err := m.store.IsEarlier(ctx, link, version); err != nil || before {
				return link, err
			}
		}
	}
	return "", nil
}

// workspaceRemovedHere reports whether the workspace was removed here, or renamed
// with its session, when it held all that a version has before it.
func (m *SessionManager) workspaceRemovedHere(ctx context.Context, name, id string) (bool, error) {
	held, err := m.store.TrashedWorkspaces(ctx, name)
	if err != nil {
		return false, err
	}
	renamed, err := m.readRenamings()
	if err != nil {
		return false, err
	}
	for range len(renamed) { // what was renamed may have been renamed again
		if name = renamed[name].To; name == "" {
			break
		}
		if v, err := m.store.WorkspaceTip(ctx, name); err == nil {
			held = append(held, v.ID)
		}
	}
	for _, gone := range held {
		if all, err := m.store.IsEarlier(ctx, id, gone); err == nil && all { // what was collected tells nothing
			return true, nil
		}
	}
	return false, nil
}
