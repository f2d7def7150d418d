package engine

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// Attached returns the sessions that work in a workspace of another name, with that.
func (m *SessionManager) Attached(ctx context.Context) (map[string]string, error) {
	values, err := m.around.Local.All(ctx, workspaceKey)
	all := map[string]string{}
	for _, value := range values {
		session, workspace, _ := strings.Cut(value, " ")
		all[session] = workspace
	}
	return all, err
}

// attach lets a session work in a workspace, "" for that of its own name.
func (m *SessionManager) attach(ctx context.Context, session, workspace string) error {
	return m.around.Local.Change(ctx, workspaceKey, func(values []string) []string {
		values = slices.DeleteFunc(values, func(value string) bool { return strings.HasPrefix(value, session+" ") })
		if workspace == "" {
			return values
		}
		return append(values, session+" "+workspace)
	})
}

// trustAttached extends the trust in a session over the workspace that the user gave
// it, when all that its calls need there is in its document, which was trusted, or is
// live on this machine, since the user let it be made. was is what the session ran before.
func (m *SessionManager) trustAttached(ctx context.Context, session domarkx.Info, workspace string, was trustDigest) error {
	now, besides, err := m.digestWith(ctx, session)
	if err != nil {
		return err
	}
	if besides != (trustDigest{}) {
		i, err := m.around.Workspaces.Instance(ctx, workspace)
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

// followPulled is followWorkspace for sessions that were pulled, given what they were
// before; one that is not here now, or as it was, stays where it works. here are the
// workspaces that were here before.
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

// followWorkspace lets a session that was pulled work in the workspace that its last
// calls were made in elsewhere, when the pull brought those, and that: which workspace it
// is no snapshot says, but only one holds their version. A workspace that was here
// before is for its user to share: a remote that could lead a session there would have it
// call and push what is there.
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
	if err != nil || v.Operation == "import" { // nothing was called there
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

// holdsVersion reports whether a workspace with that tip, "" for none, has a version.
func (m *SessionManager) holdsVersion(ctx context.Context, tip, version string) (bool, error) {
	if tip == "" {
		return false, nil
	}
	return m.store.IsEarlier(ctx, version, tip)
}
