package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// Attached returns the workspaces of sessions that work in a workspace of another name, by
// session.
func (m *SessionManager) Attached(ctx context.Context) (map[string]string, error) {
	return local.Attached(ctx, m.env.Local)
}

// WorkspaceOf returns the name of the workspace that a session works in.
func (m *SessionManager) WorkspaceOf(ctx context.Context, session string) (string, error) {
	return local.WorkspaceOf(ctx, m.env.Local, session)
}

// Assign makes a session work in a workspace, or in that of its own name if workspace is "".
func (m *SessionManager) Assign(ctx context.Context, session, workspace string) error {
	if session == workspace {
		workspace = ""
	}
	all, err := m.Attached(ctx)
	if err != nil || all[session] == workspace {
		return err
	}
	return local.Attach(ctx, m.env.Local, session, workspace)
}

// CheckVacant returns an error if the instance of a workspace cannot be renamed because the new name
// is taken.
func (m *SessionManager) CheckVacant(ctx context.Context, from, to string) error {
	if _, err := m.env.Workspaces.Instance(ctx, to); from == to || errors.Is(err, domarkx.ErrNotFound) {
		return nil
	} else if err != nil {
		return err
	}
	return fmt.Errorf("workspace %q: %w on this machine; git domarkx workspace rm %s removes it", to, domarkx.ErrExists, to)
}
