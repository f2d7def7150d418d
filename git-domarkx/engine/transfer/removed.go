package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"

	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// removals records the tips of names that were removed on remotes, by remote and name, on this
// machine. A fetch deletes its own record of these names, but the next pull needs them, to move
// sessions that were removed there and unchanged here to the trash.
type removals map[string]map[string]string

// The files that record removed sessions and removed workspaces.
const (
	removedSessions   = "removed.json"
	removedWorkspaces = "removed-workspaces.json"
)

func (m *Manager) readRemovals(file string) (removals, error) {
	all, err := local.ReadMap[map[string]string](filepath.Join(m.env.StateDir, file)) // if it is damaged, sessions that should be removed stay
	if err != nil {
		return nil, fmt.Errorf("reading the record of sessions removed at remotes: %w", err)
	}
	return all, nil
}

// recallRemoved adds the names that earlier fetches found removed to before.
func (m *Manager) recallRemoved(from string, before Tips) error {
	for file, tips := range map[string]map[string]string{removedSessions: before.Sessions, removedWorkspaces: before.Workspaces} {
		all, err := m.readRemovals(file)
		if err != nil {
			return err
		}
		for name, id := range all[remote.WithoutUser(from)] {
			if tips[name] == "" {
				tips[name] = id
			}
		}
	}
	return nil
}

// rememberRemoved records the names in before that are missing in after. A zero before clears the
// names that a pull has handled.
func (m *Manager) rememberRemoved(from string, before, after Tips) error {
	return errors.Join(m.rememberIn(removedSessions, remote.WithoutUser(from), before.Sessions, after.Sessions),
		m.rememberIn(removedWorkspaces, remote.WithoutUser(from), before.Workspaces, after.Workspaces))
}

func (m *Manager) rememberIn(file, from string, before, after map[string]string) error {
	all, err := m.readRemovals(file)
	if err != nil {
		return err
	}
	removed := map[string]string{}
	if before != nil {
		maps.Copy(removed, all[from])
		maps.Copy(removed, before)
	}
	maps.DeleteFunc(removed, func(name, _ string) bool { return after[name] != "" })
	if maps.Equal(removed, all[from]) {
		return nil
	}
	all[from] = removed
	if len(removed) == 0 {
		delete(all, from)
	}
	if err := local.WriteMap(filepath.Join(m.env.StateDir, file), all); err != nil {
		return fmt.Errorf("writing the record of sessions removed at remotes: %w", err)
	}
	return nil
}

// renamedHere reports whether a session was renamed here after it contained snapshot id.
func (m *Manager) renamedHere(ctx context.Context, name, id string) (bool, error) {
	all, err := m.sessions.Renamings()
	if err != nil || all[name].Tip == "" {
		return false, err
	}
	now, err := m.sessions.InPlaceOf(ctx, all[name].Tip, "", nil)
	if err != nil {
		return false, err
	}
	for _, tip := range []string{all[name].Tip, now} {
		if held, err := m.store.IsAncestor(ctx, id, tip); held && err == nil { // on error, gc may have removed the tip
			return true, nil
		}
	}
	return false, nil
}

// withNewNames adds the new names of sessions that were renamed here to names.
func (m *Manager) withNewNames(names []string, local map[string]string) ([]string, error) {
	all, err := m.sessions.Renamings()
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		seen[name] = true
	}
	for _, name := range names {
		for local[name] == "" && all[name].To != "" && !seen[all[name].To] {
			name = all[name].To // it may have been renamed several times
			seen[name] = true
			if local[name] != "" {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
