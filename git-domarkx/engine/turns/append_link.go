package turns

import (
	"context"
	"errors"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/plugins"
)

// replyLink returns the workspace version to link to a new assistant message at the end of a
// session, or "" for none. It commits manual changes in the live directories and returns the
// version of the live workspace. If nothing is live, it returns the last version that the session
// links. It starts no resource, uses no network and waits for no lock, because a running tool may
// call it.
func (m *Manager) replyLink(ctx context.Context, session string) (string, error) {
	tip, err := m.store.Tip(ctx, session)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	workspace, err := m.sessions.WorkspaceOf(ctx, session)
	if err != nil {
		return "", err
	}
	if v, err := m.commitDirectories(ctx, workspace); v != "" || err != nil {
		return v, err
	}
	for _, name := range []string{workspace, session} { // without any version, do not search long sessions
		if _, err := m.store.WorkspaceTip(ctx, name); err == nil {
			return m.sessions.LinkAt(ctx, tip.ID, tip.Messages-1)
		} else if !errors.Is(err, domarkx.ErrNotFound) {
			return "", err
		}
	}
	return "", nil
}

// commitDirectories commits manual changes in the live directories of a workspace and returns the
// version of the live workspace. It returns "" if nothing is live, or if the version cannot be
// determined now: another process holds the workspace, a call or a load was interrupted, or a
// file cannot be stored. The next call repairs or reports these.
func (m *Manager) commitDirectories(ctx context.Context, workspace string) (string, error) {
	i, err := m.env.Workspaces.Instance(ctx, workspace)
	if errors.Is(err, domarkx.ErrNotFound) || err == nil && (i.Head == "" || i.Loading != "") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	begun, err := journal.In(m.env.StateDir).List()
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(begun, func(c journal.Call) bool { return c.Workspace == workspace }) {
		return "", nil // changes left by an interrupted call are not manual
	}
	tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
	if err != nil {
		return "", err
	}
	o := plugins.Options{NoWait: true}
	if tip.ID != "" {
		o.Tip = &tip
	}
	p, err := m.present(ctx, workspace, true)
	if err != nil {
		return "", err
	}
	b := &openWorkspace{m: m, workspace: workspace}
	if b.live, err = m.env.Workspaces.Open(ctx, p, o); err != nil {
		return "", ctx.Err()
	}
	err = b.derive(ctx)
	if err == nil {
		err = b.commitChanges(ctx)
	}
	if err := errors.Join(err, b.close(ctx)); err != nil {
		return "", ctx.Err()
	}
	return b.tip.ID, nil
}
