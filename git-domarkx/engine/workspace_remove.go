package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx"
)

// RemoveWorkspace moves a workspace to the trash, after committing what changed in
// it; the instance on this machine is torn down. It returns its newest version.
func (m *SessionManager) RemoveWorkspace(ctx context.Context, name string) (domarkx.Version, error) {
	v, err := m.dismantle(ctx, name)
	if err != nil {
		return v, err
	}
	err = m.update(ctx, "rm "+name, func(tx Tx) error {
		if v, err = tx.WorkspaceTip(ctx, name); err != nil {
			return m.elsewhere(ctx, name, err)
		}
		return tx.WorkspaceToTrash(ctx, name)
	})
	return v, err
}

// AttachWorkspace lets a session work in the workspace of another name.
func (m *SessionManager) AttachWorkspace(ctx context.Context, session, workspace string) error {
	if _, err := m.store.Tip(ctx, session); err != nil {
		return err
	}
	if session == workspace {
		return m.assign(ctx, session, "")
	}
	if _, err := m.store.WorkspaceTip(ctx, workspace); err != nil {
		return m.elsewhere(ctx, workspace, err)
	}
	return m.assign(ctx, session, workspace)
}

// A NotLiveError says that a workspace is not live on this machine.
type NotLiveError struct{ Workspace string }

// Error says what to do.
func (e *NotLiveError) Error() string {
	return fmt.Sprintf("workspace %q is not live on this machine: the next call makes it so (git domarkx run or exec); git domarkx checkout writes a version to a folder", e.Workspace)
}

// WorkspacePaths returns the folders of this machine that the resources of a live
// workspace are, in the order of the document, or that of one resource. It makes
// nothing.
func (m *SessionManager) WorkspacePaths(ctx context.Context, workspace, resource string) ([]string, error) {
	i, err := m.around.Workspaces.Instance(ctx, workspace)
	if errors.Is(err, domarkx.ErrNotFound) {
		if _, err := m.store.WorkspaceTip(ctx, workspace); err != nil {
			if _, e := m.store.Tip(ctx, workspace); e != nil {
				return nil, err
			}
		}
		return nil, &NotLiveError{workspace}
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	known := resource == ""
	for _, r := range i.Resources {
		if resource != "" && r.ID != resource {
			continue
		}
		known = true
		if r.Path != "" {
			paths = append(paths, r.Path)
		}
	}
	switch {
	case !known:
		return nil, fmt.Errorf("resource %q of workspace %q: %w", resource, workspace, domarkx.ErrNotFound)
	case len(paths) == 0:
		return nil, &RefusedError{fmt.Sprintf("workspace %q has no folder on this machine: its resources are none", workspace)}
	}
	return paths, nil
}
