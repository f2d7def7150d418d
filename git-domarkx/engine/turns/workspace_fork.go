package turns

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// ForkResult describes a new session and its workspace.
type ForkResult struct {
	domarkx.Info
	Workspace domarkx.Version // first version of the new session's workspace; zero for none
	// Asleep is the reason why the new workspace is not live yet, or nil. The first call of the session makes it live.
	Asleep error
}

// Fork creates a session from a snapshot of another one. If r has a message number, the new session ends with that message.
// It gets a workspace of its own, which starts with the version that the message left and is private: it never works in the
// files of the other workspace. The error matches [domarkx.ErrExists] if the new name is taken, and [domarkx.ErrNotFound] if
// the snapshot or message does not exist.
func (m *Manager) Fork(ctx context.Context, r engine.Revision, name string) (ForkResult, error) {
	fork, err := m.fork(ctx, r, name, true)
	if err != nil || fork.Workspace.ID == "" {
		return fork, err
	}
	fork.Asleep, err = m.wake(ctx, fork)
	return fork, err
}

// ForkUntrusted is like [Manager.Fork], for a program that acts without the user: it does not
// extend the trust in the session to the fork, and makes nothing of the new workspace live.
func (m *Manager) ForkUntrusted(ctx context.Context, r engine.Revision, name string) (ForkResult, error) {
	return m.fork(ctx, r, name, false)
}

func (m *Manager) fork(ctx context.Context, r engine.Revision, name string, trusted bool) (ForkResult, error) {
	from, err := m.sessions.Resolve(ctx, r)
	if err != nil {
		return ForkResult{}, err
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return ForkResult{}, err
	}
	link, err := m.versionToFork(ctx, r, from)
	if err != nil {
		return ForkResult{}, err
	}
	c := engine.Change{Name: name, Operation: "fork", Author: author, Committer: committer}
	fork := ForkResult{Info: from}
	err = m.sessions.Update(ctx, "fork "+r.String()+" "+name, func(tx *transaction.Tx) error {
		if err := tx.CheckName(ctx, name); err != nil {
			return err
		}
		if _, err := tx.WorkspaceTip(ctx, name); !errors.Is(err, domarkx.ErrNotFound) {
			if err == nil {
				err = fmt.Errorf("workspace %q: %w, expected the name of a new session", name, domarkx.ErrExists)
			}
			return err
		}
		if err := m.sessions.CheckVacant(ctx, r.Name, name); err != nil {
			return err
		}
		state, err := m.store.Load(ctx, from.ID)
		if err != nil {
			return err
		}
		truncated := r.Message >= 0 && r.Message < from.Messages-1
		if truncated {
			state.Thread = *state.Thread.Truncate(r.Message + 1)
		}
		extend := trust.Extension(trust.Unchanged)
		if trusted {
			if extend, err = m.trust.Keep(ctx, name, state, from); err != nil {
				return err
			}
		}
		own, err := m.ownIdentity(ctx, name, from, truncated, state, committer.When)
		if err != nil {
			return err
		}
		if truncated || own {
			if fork.Info, err = m.sessions.ContinueWith(ctx, tx, from, state, c, fmt.Sprintf("fork %s from %s", name, r)); err != nil {
				return err
			}
		}
		if link != "" {
			if err := tx.SetWorkspace(ctx, name, link); err != nil {
				return err
			}
		}
		return tx.Set(ctx, name, fork.Info, extend)
	})
	fork.Name = name
	if err != nil {
		return fork, err
	}
	if err := m.forkPrivate(ctx, fork.Info); err != nil || link == "" {
		return fork, err
	}
	if fork.Workspace, err = m.store.Version(ctx, link); err != nil {
		return fork, err
	}
	fork.Workspace.Workspace = name
	return fork, nil
}

// wake makes the workspace of a fork live, if the user trusts the session.
func (m *Manager) wake(ctx context.Context, fork ForkResult) (asleep, err error) {
	b := &openWorkspace{m: m, workspace: fork.Name}
	p, err := b.permitFor(ctx, fork.Info, fork.Workspace)
	if err == nil {
		err = m.env.Workspaces.Fork(ctx, p, fork.Workspace)
	}
	return err, ctx.Err()
}

// versionToFork returns the first version of a fork's workspace, or "" for none.
func (m *Manager) versionToFork(ctx context.Context, r engine.Revision, from domarkx.Info) (string, error) {
	if r.Message >= 0 && r.Message < from.Messages-1 {
		return m.sessions.LinkAt(ctx, from.ID, r.Message)
	}
	tip, err := m.store.Tip(ctx, r.Name)
	if err != nil {
		return "", err
	}
	return m.sessions.StateAt(ctx, tip, from)
}

// forkPrivate makes the workspace of a fork private if its document asks for resources.
func (m *Manager) forkPrivate(ctx context.Context, fork domarkx.Info) error {
	h, err := view.Header(ctx, m.store, fork.ID)
	if err != nil {
		return err
	}
	if asked, err := m.trust.ResourcesOf(ctx, fork.Name, h); err == nil && len(asked.Specs) == 0 {
		return nil
	}
	return m.setPrivate(ctx, "", fork.Name)
}

// movePrivate applies the private setting of a workspace to its new name.
func (m *Manager) movePrivate(ctx context.Context, from, to string) error {
	if private, err := m.isPrivate(ctx, from); err != nil || !private {
		return err
	}
	return m.setPrivate(ctx, from, to)
}

// setPrivate makes a workspace private, and removes the setting of another name.
func (m *Manager) setPrivate(ctx context.Context, from, to string) error {
	return m.env.Local.Change(ctx, local.PrivateKey, func(names []string) []string {
		names = slices.DeleteFunc(names, func(name string) bool { return name == from })
		if slices.Contains(names, to) {
			return names
		}
		return append(names, to)
	})
}

// isPrivate reports whether a workspace must not work in shared files.
func (m *Manager) isPrivate(ctx context.Context, workspace string) (bool, error) {
	names, err := m.env.Local.All(ctx, local.PrivateKey)
	return slices.Contains(names, workspace), err
}

// ownIdentity gives the state of a fork an identity of its own in the format of its header, so that the format's program
// does not treat the fork as a save of the original session. It reports whether a codec changed the identity.
func (m *Manager) ownIdentity(ctx context.Context, name string, from domarkx.Info, cut bool, state *domarkx.State, at time.Time) (bool, error) {
	h, err := view.LoadHeader(ctx, m.store, state.Headers)
	if err != nil {
		return false, err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "fork\x00%s\x00%s\x00%d", name, from.ID, at.UnixNano()))
	id := uuid.UUID(sum[:16])
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80 // version 4, as the programs create them
	for _, codec := range m.sessions.Codecs() {
		if codec.Fork == nil {
			continue
		}
		own, ok := codec.Fork(h, format.Fork{UUID: id.String(), At: at, Cut: cut})
		if !ok {
			continue
		}
		own.SnapshotID, own.ImportTimestamp = "", ""
		next := domarkx.HeaderEntry{JSON: domarkx.Blob{Data: view.PrettyJSON(own.Value())}, Layout: markdown.WriteHeader(own).Layout, Includes: state.Headers[0].Includes}
		state.Headers = domarkx.ReviseHeader(state.Headers, next, view.NormalHeader(own))
		return true, nil
	}
	return false, nil
}
