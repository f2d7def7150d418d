package transfer

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// workspace pulls a workspace and reports whether it changed. session is the tip, after the pull,
// of the session that the workspace belongs to. A session that comes brings its workspace, also one that was removed here.
func (p *pull) workspace(ctx context.Context, tx *transaction.Tx, name string, session domarkx.Info, comes bool) (bool, error) {
	before, now := p.Before.Workspaces[name], p.After.Workspaces[name]
	tip, err := tx.WorkspaceTipOrNone(ctx, name)
	if err != nil {
		return false, err
	}
	here := tip.ID != ""
	switch {
	case now == "" && before != "" && here && tip.ID == before && !p.shared(name):
		return true, tx.WorkspaceToTrash(ctx, name)
	case now == "", here && tip.ID == now:
		return false, nil
	case !here:
		if removed, err := p.m.workspaceRemovedHere(ctx, name, now); err != nil || removed && !comes {
			return false, err
		}
		return true, p.m.acceptWorkspace(ctx, tx, domarkx.Version{Workspace: name}, now)
	}
	switch state, err := compare(ctx, p.m.store.IsEarlier, tip.ID, now); {
	case err != nil || state == ahead:
		return false, err
	case state == behind:
		return true, p.m.acceptWorkspace(ctx, tx, tip, now)
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

// acceptWorkspace checks a version that came from elsewhere and makes it the newest version of a
// workspace. tip is the version so far.
func (m *Manager) acceptWorkspace(ctx context.Context, tx *transaction.Tx, tip domarkx.Version, id string) error {
	if _, err := m.checkedVersion(ctx, tip, id); err != nil {
		return err
	}
	return tx.SetWorkspace(ctx, tip.Workspace, id)
}

// checkedVersion loads a version that came from elsewhere and checks the resources that differ
// from tip. Accepting an unreadable version would make further calls impossible.
func (m *Manager) checkedVersion(ctx context.Context, tip domarkx.Version, id string) (domarkx.Version, error) {
	v, err := m.store.Version(ctx, id)
	if err != nil {
		return v, err
	}
	before := map[string]string{}
	for _, r := range tip.Resources {
		before[r.ID] = r.Version
	}
	for _, r := range v.Resources {
		if err := m.sessions.CheckResource(ctx, before[r.ID], r); err != nil {
			return v, fmt.Errorf("workspace version %.12s: %w", id, err)
		}
	}
	return v, nil
}

// joinVersions commits a version whose parents are two divergent versions. It does not merge their contents. The result has
// the contents of the last version that the session links and that is in the history of one of the two, or else those of the
// version with the greater number. The commit depends only on the two versions and the session, so that every clone creates
// the same one.
func (m *Manager) joinVersions(ctx context.Context, tx *transaction.Tx, name string, session domarkx.Info, a, b domarkx.Version) (domarkx.Version, error) {
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
		linked, err := m.store.VersionOrStub(ctx, link)
		if err != nil {
			return domarkx.Version{}, err
		}
		if linked.Expired == nil {
			kept = linked
		}
	}
	merger := engine.MergerAt(max(a.Date, b.Date))
	return tx.CommitVersion(ctx, name, domarkx.VersionCommit{
		Parents:   []string{a.ID, b.ID},
		Resources: kept.Resources,
		Operation: "merge",
		Subject:   fmt.Sprintf("merge %.12s and %.12s", a.ID, b.ID),
		Author:    merger,
		Committer: merger,
	})
}

// lastLink returns the link of the last message that is linked to one of the versions or to an ancestor of them, or "" for
// none. It ignores links to versions that are not parents in the session's history.
func (m *Manager) lastLink(ctx context.Context, tx *transaction.Tx, snapshot string, versions ...string) (string, error) {
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

// workspaceRemovedHere reports whether the workspace was removed, or renamed with its session,
// after it contained version id.
func (m *Manager) workspaceRemovedHere(ctx context.Context, name, id string) (bool, error) {
	held, err := m.store.Trashed(refname.Workspaces, name)
	if err != nil {
		return false, err
	}
	renamed, err := m.sessions.Renamings()
	if err != nil {
		return false, err
	}
	for range len(renamed) { // it may have been renamed several times
		if name = renamed[name].To; name == "" {
			break
		}
		if v, err := m.store.WorkspaceTip(ctx, name); err == nil {
			held = append(held, v.ID)
		}
	}
	for _, removed := range held {
		if all, err := m.store.IsEarlier(ctx, id, removed); err == nil && all { // ignore errors: gc may have removed the version
			return true, nil
		}
	}
	return false, nil
}

// followPulled calls followWorkspace for sessions that were pulled. before holds their tips before the pull, here the
// workspaces before the pull. It skips sessions that no longer exist, did not change or already have an assigned workspace.
func (m *Manager) followPulled(ctx context.Context, before []domarkx.Info, here map[string]string) error {
	chosen, err := m.sessions.Attached(ctx)
	if err != nil {
		return err
	}
	tips, err := m.here(ctx)
	if err != nil {
		return err
	}
	for _, was := range before {
		now, err := m.store.TipOrNone(ctx, was.Name)
		if err != nil {
			return err
		}
		if now.ID == "" || now.ID == was.ID || chosen[was.Name] != "" {
			continue
		}
		if err := m.followWorkspace(ctx, was, now, here, tips.Workspaces); err != nil {
			return err
		}
	}
	return nil
}

// followWorkspace assigns a pulled session to the workspace of its last calls, if the pull brought both. Snapshots do not
// name the workspace, so it is found by the linked version, which must be in only one workspace of all. A workspace that
// was here before the pull is never assigned: a remote could otherwise direct a session to it and obtain its contents.
func (m *Manager) followWorkspace(ctx context.Context, before, now domarkx.Info, here, all map[string]string) error {
	link, err := m.sessions.LinkAt(ctx, now.ID, now.Messages-1)
	if err != nil || link == "" {
		return err
	}
	if before.ID != "" {
		if was, err := m.sessions.LinkAt(ctx, before.ID, before.Messages-1); err != nil || was == link {
			return err
		}
	}
	v, err := m.store.VersionOrStub(ctx, link)
	if err != nil || v.Operation == "import" { // no call was made there
		return err
	}
	found := ""
	for name, tip := range all {
		holds, err := m.store.IsEarlier(ctx, link, tip)
		if err != nil {
			return err
		}
		if holds && (found != "" || name == now.Name) {
			return nil
		}
		if holds {
			found = name
		}
	}
	if _, was := here[found]; found == "" || was {
		return nil
	}
	return m.sessions.Assign(ctx, now.Name, found)
}
