package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// Attached returns the workspaces of sessions that work in a workspace of another name, by
// session.
func (m *SessionManager) Attached(ctx context.Context) (map[string]string, error) {
	values, err := m.env.Local.All(ctx, workspaceKey)
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
	return m.env.Local.Change(ctx, workspaceKey, func(values []string) []string {
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

// followPulled calls followWorkspace for sessions that were pulled. before holds their tips
// before the pull, here the workspaces before the pull. It skips sessions that no longer exist,
// did not change or already have an assigned workspace.
func (m *SessionManager) followPulled(ctx context.Context, before []domarkx.Info, here map[string]string) error {
	chosen, err := m.Attached(ctx)
	if err != nil {
		return err
	}
	for _, was := range before {
		now, err := m.store.Tip(ctx, was.Name)
		if errors.Is(err, domarkx.ErrNotFound) || err == nil && (now.ID == was.ID || chosen[was.Name] != "") {
			continue
		}
		if err != nil {
			return err
		}
		now.Name = was.Name
		if err := m.followWorkspace(ctx, was, now, here); err != nil {
			return err
		}
	}
	return nil
}

// followWorkspace assigns a pulled session to the workspace of its last calls, if the pull
// brought both. Snapshots do not name the workspace, so it is found by the linked version, which
// must be in only one workspace. A workspace that existed before the pull is never assigned: a
// remote could otherwise direct a session to it and obtain its contents.
func (m *SessionManager) followWorkspace(ctx context.Context, before, now domarkx.Info, here map[string]string) error {
	link, err := m.linkAt(ctx, now.ID, now.Messages-1)
	if err != nil || link == "" {
		return err
	}
	if before.ID != "" {
		if was, err := m.linkAt(ctx, before.ID, before.Messages-1); err != nil || was == link {
			return err
		}
	}
	v, err := m.store.Version(ctx, link)
	if err != nil || v.Operation == "import" { // no call was made there
		return err
	}
	all, err := m.workspaceTips(ctx)
	if err != nil {
		return err
	}
	found := ""
	for name, tip := range all {
		holds, err := m.holdsVersion(ctx, tip, link)
		if err != nil {
			return err
		}
		if holds && (found != "" || name == now.Name) {
			return nil
		}
		if holds {
			found = name
		}
	}
	if _, was := here[found]; found == "" || was {
		return nil
	}
	return m.assign(ctx, now.Name, found)
}

// holdsVersion reports whether a version is in the history of tip, which may be "".
func (m *SessionManager) holdsVersion(ctx context.Context, tip, version string) (bool, error) {
	if tip == "" {
		return false, nil
	}
	return m.store.IsEarlier(ctx, version, tip)
}
