package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/plugins"
)

// hold takes up a workspace that is live on this machine, so that no other process
// works with it, and commits what changed in it; nil when it is not live. It makes
// nothing.
func (m *SessionManager) hold(ctx context.Context, workspace string) (*bench, error) {
	if err := m.finishRename(ctx, workspace); err != nil {
		return nil, err
	}
	if _, err := m.around.Workspaces.Instance(ctx, workspace); errors.Is(err, domarkx.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	tip, err := m.tipOrNone(ctx, workspace)
	if err != nil {
		return nil, err
	}
	o := plugins.Options{Existing: true, Keep: m.keeper(workspace)}
	if tip.ID != "" {
		o.Tip = &tip
	}
	b := &bench{m: m, workspace: workspace}
	if b.live, err = m.around.Workspaces.Open(ctx, workspace, o); err != nil {
		return nil, err
	}
	if err := b.settle(ctx); err != nil {
		return nil, errors.Join(err, b.close(ctx))
	}
	return b, nil
}

// settle commits what is live.
func (b *bench) settle(ctx context.Context) error {
	if err := b.derive(ctx); errors.Is(err, domarkx.ErrNotFound) { // collected, with a workspace that was removed
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
	if b.tip.ID == "" { // it was only being made
		return nil
	}
	return b.commitChanges(ctx)
}

// finishRename gives the instance of a workspace its name, when the program was
// killed while it renamed the session.
func (m *SessionManager) finishRename(ctx context.Context, workspace string) error {
	if _, err := m.around.Workspaces.Instance(ctx, workspace); !errors.Is(err, domarkx.ErrNotFound) {
		return err
	}
	all, err := m.readRenamings()
	if err != nil {
		return err
	}
	for from, r := range all {
		if r.To != workspace {
			continue
		}
		if _, err := m.store.WorkspaceTip(ctx, from); !errors.Is(err, domarkx.ErrNotFound) {
			continue // another has the name now
		}
		if err := m.around.Workspaces.Rename(ctx, from, workspace); err != nil {
			return err
		}
	}
	return nil
}
