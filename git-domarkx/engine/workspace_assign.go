package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// Attached returns the workspaces of sessions that work in a workspace of another name, by
// session.
func (m *SessionManager) Attached(ctx context.Context) (map[string]string, error) {
	values, err := m.env.Local.All(ctx, local.WorkspaceKey)
	all := map[string]string{}
	for _, value := range values {
		session, workspace, _ := strings.Cut(value, " ")
		all[session] = workspace
	}
	return all, err
}

// workspaceOf returns the name of the workspace that a session works in.
func (m *SessionManager) workspaceOf(ctx context.Context, session string) (string, error) {
	all, err := m.Attached(ctx)
	if err != nil {
		return "", err
	}
	return cmp.Or(all[session], session), nil
}

// attach records that a session works in a workspace, or in that of its own name if workspace is
// "".
func (m *SessionManager) attach(ctx context.Context, session, workspace string) error {
	return m.env.Local.Change(ctx, local.WorkspaceKey, func(values []string) []string {
		values = slices.DeleteFunc(values, func(value string) bool { return strings.HasPrefix(value, session+" ") })
		if workspace == "" {
			return values
		}
		return append(values, session+" "+workspace)
	})
}

// trustAttached extends the trust in a session to the workspace that the user assigned to it, if
// everything that its calls need is in its trusted document or already live on this machine. was
// is the digest of the session before the assignment.
func (m *SessionManager) trustAttached(ctx context.Context, session domarkx.Info, workspace string, was trustDigest) error {
	now, besides, err := m.digestWith(ctx, session)
	if err != nil {
		return err
	}
	if besides != (trustDigest{}) {
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
		if (&Runs{What: "resources", Text: configsText(live)}).digest() != besides {
			return nil
		}
	}
	return m.growTrust(ctx, now, session.Name, was)
}
