package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/plugins"
)

// RemoveWorkspace commits the changes of a workspace, moves it to the trash and tears down the instance on this machine. It
// returns the newest version. If only the instance exists, it commits nothing without changes and returns a zero version.
// For lose see [SessionManager.Remove].
func (m *Manager) RemoveWorkspace(ctx context.Context, name string, lose func(error)) (domarkx.Version, error) {
	_, err := m.env.Workspaces.Instance(ctx, name)
	if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		return domarkx.Version{}, err
	}
	here := err == nil
	v, err := m.dismantle(ctx, name, lose)
	if err != nil || here && v.ID == "" {
		return v, err
	}
	err = m.sessions.Update(ctx, "rm "+name, func(tx *transaction.Tx) error {
		if v, err = tx.WorkspaceTip(ctx, name); err != nil {
			return m.sessions.ElsewhereError(ctx, name, err)
		}
		return tx.WorkspaceToTrash(ctx, name)
	})
	return v, err
}

// dismantle commits the changes of a workspace's instance and tears it down. If changes cannot be
// committed, it reports that to lose and discards them, or returns an error if lose is nil. It
// returns the newest version, or a zero version if there is none.
func (m *Manager) dismantle(ctx context.Context, workspace string, lose func(error)) (domarkx.Version, error) {
	b, err := m.hold(ctx, workspace)
	if err == nil && b != nil {
		if err = b.close(ctx); err == nil {
			remove := m.env.Workspaces.TearDown
			if lose != nil {
				remove = m.env.Workspaces.Discard
			}
			err = remove(ctx, workspace)
		}
	} else if err != nil {
		err = m.discard(ctx, workspace, err, lose)
	}
	if err != nil {
		return domarkx.Version{}, err
	}
	return m.store.WorkspaceTipOrNone(ctx, workspace)
}

// discard tears down an instance whose changes cannot be committed.
func (m *Manager) discard(ctx context.Context, workspace string, why error, lose func(error)) error {
	if ctx.Err() != nil {
		return why
	}
	i, err := m.env.Workspaces.Instance(ctx, workspace)
	if err != nil {
		return errors.Join(why, err)
	}
	since := "in it, which has no version yet,"
	if i.Head != "" {
		since = fmt.Sprintf("in it since version %.12s", i.Head)
	}
	if lose == nil {
		return fmt.Errorf("%w; the changes %s cannot be committed, so nothing was removed; --force discards them and keeps the existing versions", why, since)
	}
	if err := m.env.Workspaces.Discard(ctx, workspace); err != nil {
		return err
	}
	var names []string
	for _, r := range i.Resources {
		if r.Private {
			names = append(names, r.ID)
		}
	}
	if len(names) > 0 {
		lose(fmt.Errorf("workspace %q: the changes %s are lost (%s): %w", workspace, since, strings.Join(names, ", "), why))
	}
	return nil
}

// AttachWorkspace assigns a session to a workspace of another name. The error matches
// [domarkx.ErrNotFound] if the session or workspace does not exist.
func (m *Manager) AttachWorkspace(ctx context.Context, session, workspace string) error {
	info, err := m.store.Tip(ctx, session)
	if err != nil {
		return err
	}
	if _, err := m.store.WorkspaceTip(ctx, workspace); err != nil && session != workspace {
		return m.sessions.ElsewhereError(ctx, workspace, err)
	}
	was, _, err := m.trust.Digests(ctx, info)
	if err != nil {
		return err
	}
	if err := m.sessions.Assign(ctx, session, workspace); err != nil {
		return err
	}
	return m.trustAttached(ctx, info, workspace, was)
}

// A NotLiveError means that a workspace is not live on this machine.
type NotLiveError struct{ Workspace string }

// Error returns a message that says what to do.
func (e *NotLiveError) Error() string {
	return fmt.Sprintf("workspace %q is not live on this machine: the next call makes it so (git domarkx run or exec); git domarkx checkout writes a version to a directory", e.Workspace)
}

// WorkspacePaths returns the directories of a live workspace's resources in the order of the document, or the directory of
// one resource. It creates nothing. It returns a [*NotLiveError] if the workspace is not live, an [*engine.RefusedError] if
// no resource has a directory, and an error that matches [domarkx.ErrNotFound] if the workspace or resource does not exist.
func (m *Manager) WorkspacePaths(ctx context.Context, workspace, resource string) ([]string, error) {
	i, err := m.env.Workspaces.Instance(ctx, workspace)
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
	case len(paths) == 0 && resource != "":
		return nil, &engine.RefusedError{Reason: fmt.Sprintf("resource %q of workspace %q is no directory; git domarkx checkout writes what it holds to one", resource, workspace)}
	case len(paths) == 0:
		return nil, &engine.RefusedError{Reason: fmt.Sprintf("no resource of workspace %q is a directory; git domarkx checkout writes what they hold to one", workspace)}
	}
	return paths, nil
}

// trustAttached extends the trust in a session to the workspace that the user assigned to it, if everything that its calls
// need is in its trusted document or already live on this machine. was are the digests of the session before the assignment.
func (m *Manager) trustAttached(ctx context.Context, session domarkx.Info, workspace string, was trust.Digests) error {
	now, besides, err := m.trust.Digests(ctx, session)
	if err != nil {
		return err
	}
	if besides != (trust.Digest{}) {
		i, err := m.env.Workspaces.Instance(ctx, workspace)
		if errors.Is(err, domarkx.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		live := make([]domarkx.ResourceSpec, len(i.Resources))
		for n, r := range i.Resources {
			live[n] = r.ResourceSpec
		}
		if (&trust.Runs{What: "resources", Text: trust.ConfigsText(live)}).Digest() != besides {
			return nil
		}
	}
	return m.trust.Grow(ctx, now, session.Name, was)
}

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

// finishRename renames the instance of a workspace if the process was killed while it renamed the session.
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
