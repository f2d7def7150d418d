package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// replyLink returns the workspace version that a new message of the assistant at the end of a
// session is linked to, "" for none: the version of what is live, after changes made by hand in
// its folders were committed, or else the last version that the session is linked to. It starts
// nothing, contacts nothing and waits for nobody: a tool that is being called may append.
func (m *SessionManager) replyLink(ctx context.Context, session string) (string, error) {
	tip, err := m.store.Tip(ctx, session)
	if errors.Is(err, domarkx.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	workspace, err := m.workspaceOf(ctx, session)
	if err != nil {
		return "", err
	}
	if v, err := m.commitFolders(ctx, workspace); v != "" || err != nil {
		return v, err
	}
	for _, name := range []string{workspace, session} { // without any, long sessions are not searched
		if _, err := m.store.WorkspaceTip(ctx, name); err == nil {
			return m.linkAt(ctx, tip.ID, tip.Messages-1)
		} else if !errors.Is(err, domarkx.ErrNotFound) {
			return "", err
		}
	}
	return "", nil
}

// commitFolders commits what was changed by hand in the live folders of a workspace, and returns
// the version of what is live. It returns "" where nothing is live, and where that cannot be told
// now: another process works there, a call or a load was interrupted, or a file cannot be stored.
// The next call mends these or reports them.
func (m *SessionManager) commitFolders(ctx context.Context, workspace string) (string, error) {
	i, err := m.around.Workspaces.Instance(ctx, workspace)
	if errors.Is(err, domarkx.ErrNotFound) || err == nil && (i.Head == "" || i.Loading != "") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	begun, err := m.journal().list()
	if err != nil {
		return "", err
	}
	if slices.ContainsFunc(begun, func(c journalled) bool { return c.Workspace == workspace }) {
		return "", nil // what the call left is not a change made by hand
	}
	tip, err := m.tipOrNone(ctx, workspace)
	if err != nil {
		return "", err
	}
	o := plugins.Options{Existing: true, NoWait: true, Folders: true}
	if tip.ID != "" {
		o.Tip = &tip
	}
	b := &bench{m: m, workspace: workspace}
	if b.live, err = m.around.Workspaces.Open(ctx, workspace, o); err != nil {
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
