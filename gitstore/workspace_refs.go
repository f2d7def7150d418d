package gitstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore/odb"
)

// Workspaces says what the newest version of each workspace is, without its
// resources, in order of name. A workspace that cannot be read is left out, and its
// error is joined to those of others beside the rest of the list.
func (s *Store) Workspaces(ctx context.Context) ([]domarkx.Version, error) {
	refs, err := s.refs.List(workspaces.prefix)
	if err != nil {
		return nil, err
	}
	cache := readVersionCache(s.StateDir())
	tips := make([]domarkx.Version, 0, len(refs))
	var errs []error
	missed := 0
	for _, ref := range refs {
		v, ok := cache[ref.ID]
		if !ok {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			missed++
			id, err := s.wholeTip(ctx, ref.Name, ref.ID)
			if err == nil && id == "" {
				continue
			}
			if err == nil {
				v, err = s.commitOnly(id)
			}
			if err != nil {
				errs = append(errs, fmt.Errorf("workspace %q: %w", workspaces.name(ref.Name), err))
				continue
			}
		}
		v.Workspace = workspaces.name(ref.Name)
		tips = append(tips, v)
	}
	slices.SortFunc(tips, func(a, b domarkx.Version) int { return strings.Compare(a.Workspace, b.Workspace) })
	if missed-len(errs) > len(refs)/50+cacheAfter {
		writeVersionCache(s.StateDir(), tips)
	}
	return tips, errors.Join(errs...)
}

// commitOnly returns what the commit of a version says.
func (r reader) commitOnly(id string) (domarkx.Version, error) {
	oid, err := odb.ParseID(id)
	if err != nil {
		return domarkx.Version{}, err
	}
	_, v, _, err := r.version(oid)
	return v, err
}

// WorkspaceTip returns the newest version of a workspace, with its resources. There
// being no such workspace is [domarkx.ErrNotFound], with names that are like it.
func (s *Store) WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error) {
	id, err := s.tip(ctx, workspaces.ref(name))
	if err != nil {
		return domarkx.Version{}, workspaces.misspelled(name, err)
	}
	if id == "" {
		return domarkx.Version{}, s.notFound(workspaces, name)
	}
	return s.namedVersion(ctx, name, id)
}

// namedVersion is Version with the workspace's name, also in errors.
func (r reader) namedVersion(ctx context.Context, name, id string) (domarkx.Version, error) {
	v, err := r.Version(ctx, id)
	if err != nil {
		return v, fmt.Errorf("workspace %q: %w", name, err)
	}
	v.Workspace = name
	return v, nil
}

// WorkspaceTip is like [Store.WorkspaceTip], within the transaction: when the
// workspace moves on before the transaction ends, that fails with
// [domarkx.ErrConflict].
func (tx *Tx) WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error) {
	id, err := tx.tip(workspaces, name)
	if err != nil {
		return domarkx.Version{}, err
	}
	return tx.namedVersion(ctx, name, id)
}

// CheckWorkspaceName is [Tx.CheckName] for a new workspace.
func (tx *Tx) CheckWorkspaceName(_ context.Context, name string) error {
	return tx.checkName(workspaces, name)
}

// SetWorkspace moves a workspace to a version that has its tip among those before
// it, or makes the workspace. The errors are those of [Tx.Set].
func (tx *Tx) SetWorkspace(ctx context.Context, name, id string) error {
	if _, err := tx.namedVersion(ctx, name, id); err != nil {
		return err
	}
	return tx.set(workspaces, name, id, func(tip string) (bool, error) { return tx.IsEarlier(ctx, tip, id) })
}

// RenameWorkspace gives a workspace another name. Its versions stay as they are.
func (tx *Tx) RenameWorkspace(_ context.Context, from, to string) error {
	return tx.rename(workspaces, from, to)
}

// WorkspaceToTrash moves a workspace into the trash, together with the session of
// its name when that goes there in the same transaction.
func (tx *Tx) WorkspaceToTrash(_ context.Context, name string) error {
	return tx.toTrash(workspaces, name)
}

// WorkspaceFromTrash brings back the workspace that was removed last under a name;
// when [Tx.FromTrash] brought back the session of that name before, then the one
// that was removed together with it. Nothing there is [domarkx.ErrNotFound]; a
// workspace that has the name is [domarkx.ErrExists].
func (tx *Tx) WorkspaceFromTrash(ctx context.Context, name string) (domarkx.Version, error) {
	id, err := tx.fromTrash(workspaces, name, tx.restored[name])
	if err != nil {
		return domarkx.Version{}, err
	}
	return tx.namedVersion(ctx, name, id)
}

// TrashedWorkspaces returns the ids of the versions that were removed under a name,
// the earliest first.
func (s *Store) TrashedWorkspaces(_ context.Context, name string) ([]string, error) {
	return s.trashed(workspaces, name)
}
