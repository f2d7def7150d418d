package gitstore

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/derived"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// Workspaces returns the newest version of each workspace, sorted by name. The versions do not have their resources. Workspaces
// omits workspaces that cannot be read, and returns their errors, joined, together with the list.
func (s *Store) Workspaces(ctx context.Context) ([]domarkx.Version, error) {
	var cached []domarkx.Version
	derived.Workspaces.ReadValue(s.StateDir(), &cached)
	cache := make(map[string]domarkx.Version, len(cached))
	for _, v := range cached {
		cache[v.ID] = v
	}
	find := func(id string) (domarkx.Version, bool) { v, ok := cache[id]; return v, ok }
	refs, err := s.refs.List(refname.Workspaces.Prefix)
	if err != nil {
		return nil, err
	}
	versions, isStale, err := tips(ctx, s, refname.Workspaces, refs, find, s.VersionCommit, func(v *domarkx.Version, name string) { v.Workspace = name })
	slices.SortFunc(versions, func(a, b domarkx.Version) int { return strings.Compare(a.Workspace, b.Workspace) })
	if isStale {
		_ = derived.Workspaces.WriteValue(s.StateDir(), versions) // the repository may be read-only
	}
	return versions, err
}

// WorkspaceTip returns the newest version of a workspace, with its resources. If the workspace does not exist, it returns
// [domarkx.ErrNotFound] with a text that suggests similar names.
func (s *Store) WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error) {
	id, err := s.tip(ctx, refname.Workspaces.Ref(name))
	if err != nil {
		return domarkx.Version{}, refname.Workspaces.Misspelled(name, err)
	}
	if id == "" {
		return domarkx.Version{}, s.notFound(refname.Workspaces, name)
	}
	return s.NamedVersion(ctx, name, id)
}

// WorkspaceTip is like [Store.WorkspaceTip], within the transaction.
func (tx *Tx) WorkspaceTip(ctx context.Context, name string) (domarkx.Version, error) {
	id, err := tx.tip(refname.Workspaces, name)
	if err != nil {
		return domarkx.Version{}, err
	}
	return tx.NamedVersion(ctx, name, id)
}

// CheckWorkspaceName is like [Tx.CheckName], for a new workspace.
func (tx *Tx) CheckWorkspaceName(_ context.Context, name string) error {
	return tx.checkName(refname.Workspaces, name)
}

// SetWorkspace creates a workspace at the version id, or moves it there. Its errors are those of [Tx.Set].
func (tx *Tx) SetWorkspace(ctx context.Context, name, id string) error {
	if _, err := tx.NamedVersion(ctx, name, id); err != nil {
		return err
	}
	return tx.set(refname.Workspaces, name, id, func(tip string) (bool, error) { return tx.IsEarlier(ctx, tip, id) })
}

// RenameWorkspace renames a workspace, whose versions do not change. Its errors are those of [Tx.Rename].
func (tx *Tx) RenameWorkspace(_ context.Context, from, to string) error {
	return tx.rename(refname.Workspaces, from, to)
}

// WorkspaceToTrash moves a workspace to the trash. If [Tx.ToTrash] moves the session of the same name in the same transaction,
// both can be restored together. It returns [domarkx.ErrNotFound] if the workspace does not exist.
func (tx *Tx) WorkspaceToTrash(_ context.Context, name string) error {
	return tx.toTrash(refname.Workspaces, name)
}

// WorkspaceFromTrash restores the workspace with that name that was removed last, or, if [Tx.FromTrash] has restored the session
// of that name in this transaction, the one that was removed together with the session. It returns [domarkx.ErrNotFound] if the
// trash has none, and [domarkx.ErrExists] if the name exists again.
func (tx *Tx) WorkspaceFromTrash(ctx context.Context, name string) (domarkx.Version, error) {
	id, err := tx.fromTrash(refname.Workspaces, name, tx.restored[name])
	if err != nil {
		return domarkx.Version{}, err
	}
	return tx.NamedVersion(ctx, name, id)
}

// WorkspaceTipOrNone is like [Store.WorkspaceTip], but returns a zero version if the workspace does
// not exist.
func (s *Store) WorkspaceTipOrNone(ctx context.Context, name string) (domarkx.Version, error) {
	tip, err := s.WorkspaceTip(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) {
		return domarkx.Version{}, nil
	}
	return tip, err
}
