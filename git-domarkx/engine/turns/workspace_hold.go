package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/plugins"
)

// hold opens and locks a workspace that is live on this machine, and commits its changes. It
// returns nil if the workspace is not live. It creates nothing.
func (m *Manager) hold(ctx context.Context, workspace string) (*openWorkspace, error) {
	if err := m.finishRename(ctx, workspace); err != nil {
		return nil, err
	}
	if _, err := m.env.Workspaces.Instance(ctx, workspace); errors.Is(err, domarkx.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	tip, err := m.newest(ctx, workspace)
	if err != nil {
		return nil, err
	}
	b, err := m.openPresent(ctx, workspace, false, plugins.Options{Tip: tip, Keep: m.keeper(workspace)})
	if err != nil {
		return nil, err
	}
	if err := b.settle(ctx); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	return b, nil
}

// openPresent opens the live resources of a workspace, or its directories alone.
func (m *Manager) openPresent(ctx context.Context, workspace string, directories bool, o plugins.Options) (*openWorkspace, error) {
	p, err := m.trust.Gate(trust.Consent{}).Permit(ctx, trust.Present{Workspace: workspace, Directories: directories})
	if err != nil {
		return nil, err
	}
	b := &openWorkspace{m: m, workspace: workspace}
	b.live, err = m.env.Workspaces.Open(ctx, p, o)
	return b, err
}

// newest returns the newest version of a workspace, or nil if there is none.
func (m *Manager) newest(ctx context.Context, workspace string) (*domarkx.Version, error) {
	tip, err := m.store.WorkspaceTipOrNone(ctx, workspace)
	if tip.ID == "" {
		return nil, err
	}
	return &tip, err
}

// settle commits the live state.
func (b *openWorkspace) settle(ctx context.Context) error {
	if err := b.derive(ctx); errors.Is(err, domarkx.ErrNotFound) { // gc removed the version, because the workspace was removed
		if changed, derr := b.live.Differs(ctx); changed || derr != nil {
			return fmt.Errorf("workspace %q: the version that it derives from: %w", b.workspace, cmp.Or(derr, err))
		}
		return nil
	} else if err != nil {
		return err
	}
	if err := b.recordInterrupted(ctx); err != nil {
		return err
	}
	if b.live.Unfinished() != nil {
		return b.live.KeepUnfinished(ctx)
	}
	if b.tip.ID == "" { // it was still being created
		return nil
	}
	return b.commitChanges(ctx)
}

// finishRename renames the instance of a workspace if the process was killed while it renamed the
// session.
func (m *Manager) finishRename(ctx context.Context, workspace string) error {
	if _, err := m.env.Workspaces.Instance(ctx, workspace); !errors.Is(err, domarkx.ErrNotFound) {
		return err
	}
	all, err := m.sessions.Renamings()
	if err != nil {
		return err
	}
	for from, r := range all {
		if r.To != workspace {
			continue
		}
		if _, err := m.store.WorkspaceTip(ctx, from); !errors.Is(err, domarkx.ErrNotFound) {
			continue // another workspace has the name now
		}
		if err := m.env.Workspaces.Rename(ctx, from, workspace); err != nil {
			return err
		}
	}
	return nil
}
