package transfer

import (
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
)

// followPulled calls followWorkspace for sessions that were pulled. before holds their tips
// before the pull, here the workspaces before the pull. It skips sessions that no longer exist,
// did not change or already have an assigned workspace.
func (m *Manager) followPulled(ctx context.Context, before []domarkx.Info, here map[string]string) error {
	chosen, err := m.sessions.Attached(ctx)
	if err != nil {
		return err
	}
	for _, was := range before {
		now, err := m.store.TipOrNone(ctx, was.Name)
		if err != nil {
			return err
		}
		if now.ID == "" || now.ID == was.ID || chosen[was.Name] != "" {
			continue
		}
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
func (m *Manager) followWorkspace(ctx context.Context, before, now domarkx.Info, here map[string]string) error {
	link, err := m.sessions.LinkAt(ctx, now.ID, now.Messages-1)
	if err != nil || link == "" {
		return err
	}
	if before.ID != "" {
		if was, err := m.sessions.LinkAt(ctx, before.ID, before.Messages-1); err != nil || was == link {
			return err
		}
	}
	v, err := m.store.VersionOrStub(ctx, link)
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
	return m.sessions.Assign(ctx, now.Name, found)
}

// holdsVersion reports whether a version is in the history of tip, which may be "".
func (m *Manager) holdsVersion(ctx context.Context, tip, version string) (bool, error) {
	if tip == "" {
		return false, nil
	}
	return m.store.IsEarlier(ctx, version, tip)
}
