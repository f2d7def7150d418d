package turns

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/sources"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
)

// Rename renames a session, its workspace and the instance of the workspace on this machine. Sessions that work in this
// workspace follow. Rename waits for running calls in the workspace. The error matches [domarkx.ErrNotFound] if no session
// has the old name, and [domarkx.ErrExists] if the new name is taken.
func (m *Manager) Rename(ctx context.Context, from, to string) (domarkx.Info, error) {
	attached, err := m.env.Local.All(ctx, local.WorkspaceKey)
	if err != nil {
		return domarkx.Info{}, err
	}
	if err := m.finishRename(ctx, from); err != nil {
		return domarkx.Info{}, err
	}
	var info domarkx.Info
	err = m.env.Workspaces.RenameWith(ctx, from, to, func() error {
		info, err = m.renameRefs(ctx, from, to)
		return err
	})
	if info.Name != to { // the session was not renamed
		return info, errors.Join(err, m.env.Local.Change(ctx, local.WorkspaceKey, func([]string) []string { return attached }))
	}
	if err != nil || from == to {
		return info, err
	}
	return info, errors.Join(m.sessions.Assign(ctx, from, ""), m.movePrivate(ctx, from, to))
}

// renameRefs renames a session and its workspace in the store.
func (m *Manager) renameRefs(ctx context.Context, from, to string) (info domarkx.Info, err error) {
	err = m.sessions.Update(ctx, "rename "+from+" "+to, func(tx *transaction.Tx) error {
		if info, err = tx.Tip(ctx, from); err != nil {
			return err
		}
		if err := tx.Rename(ctx, from, to); err != nil {
			return err
		}
		if err := tx.RenameWorkspace(ctx, from, to); err != nil && !errors.Is(err, domarkx.ErrNotFound) {
			return err
		}
		if err := m.sessions.CheckVacant(ctx, from, to); err != nil {
			return err
		}
		if err := m.sessions.RememberRenamed(from, engine.Renaming{To: to, Tip: info.ID}); err != nil {
			return err
		}
		if err := sources.Rename(m.env.StateDir, from, to); err != nil {
			return err
		}
		return local.Renamed(ctx, m.env.Local, from, to)
	})
	if err == nil {
		info.Name = to
	}
	return info, err
}

// trashed returns the name for the settings of a session in the trash. No session can have it.
func trashed(session string) string { return session + "@trash" }

// Remove commits changes in a session's workspace, moves both to the trash and tears down the instance on this machine. It
// keeps a workspace that other sessions work in. If a resource does not open, its changes cannot be committed: Remove
// reports that to lose and discards them. If lose is nil, it returns the error and removes nothing.
func (m *Manager) Remove(ctx context.Context, name string, lose func(error)) (domarkx.Info, error) {
	if _, err := m.store.Tip(ctx, name); err != nil {
		return domarkx.Info{}, err
	}
	all, err := m.sessions.Attached(ctx)
	if err != nil {
		return domarkx.Info{}, err
	}
	shared := false
	for session, workspace := range all {
		shared = shared || workspace == name && session != name
	}
	if !shared {
		if _, err := m.dismantle(ctx, name, lose); err != nil {
			return domarkx.Info{}, err
		}
	}
	var info domarkx.Info
	err = m.sessions.Update(ctx, "rm "+name, func(tx *transaction.Tx) error {
		var err error
		if info, err = tx.Tip(ctx, name); err != nil {
			return err
		}
		if err := tx.ToTrash(ctx, name); err != nil || shared {
			return err
		}
		if err := tx.WorkspaceToTrash(ctx, name); !errors.Is(err, domarkx.ErrNotFound) {
			return err
		}
		return nil
	})
	info.Name = name
	if err != nil {
		return info, err
	}
	return info, errors.Join(m.sessions.Assign(ctx, trashed(name), all[name]), m.sessions.Assign(ctx, name, ""), m.movePrivate(ctx, name, trashed(name)))
}

// Restore moves the most recently removed session with a name, and its workspace, out of the trash.
// If only the workspace was removed, it restores the workspace. The error matches
// [domarkx.ErrNotFound] if the trash has neither, and [domarkx.ErrExists] if the name is taken.
func (m *Manager) Restore(ctx context.Context, name string) (domarkx.Info, error) {
	var info domarkx.Info
	err := m.sessions.Update(ctx, "restore "+name, func(tx *transaction.Tx) error {
		tip, err := tx.Tip(ctx, name)
		if err == nil {
			switch _, err := tx.WorkspaceFromTrash(ctx, name); {
			case errors.Is(err, domarkx.ErrNotFound):
				return fmt.Errorf("session %q: %w, so it is not in the trash, nor is its workspace", name, domarkx.ErrExists)
			case err != nil:
				return fmt.Errorf("session %q: %w, and restoring its workspace from the trash: %w", name, domarkx.ErrExists, err)
			}
			info = tip
			return nil
		}
		if info, err = tx.FromTrash(ctx, name); err != nil && !errors.Is(err, domarkx.ErrNotFound) {
			return err
		}
		_, werr := tx.WorkspaceFromTrash(ctx, name)
		switch {
		case err != nil && werr != nil: // neither is in the trash
			return err
		case errors.Is(werr, domarkx.ErrNotFound), errors.Is(werr, domarkx.ErrExists):
			return nil
		}
		return werr
	})
	info.Name = name
	if err != nil {
		return info, err
	}
	all, err := m.sessions.Attached(ctx)
	if err != nil {
		return info, err
	}
	if was := all[trashed(name)]; was != "" {
		err = errors.Join(m.sessions.Assign(ctx, name, was), m.sessions.Assign(ctx, trashed(name), ""))
	}
	return info, errors.Join(err, m.movePrivate(ctx, trashed(name), name))
}
