package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
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

func (m *SessionManager) readRemovals(file string) (removals, error) {
	all := removals{}
	data, err := os.ReadFile(filepath.Join(m.env.StateDir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of sessions removed at remotes: %w", err)
	}
	if json.Unmarshal(data, &all) != nil {
		return removals{}, nil // damaged: sessions that should be removed stay
	}
	return all, nil
}

// recallRemoved adds the names that earlier fetches found removed to before.
func (m *SessionManager) recallRemoved(remote string, before Tips) error {
	for file, tips := range map[string]map[string]string{removedSessions: before.Sessions, removedWorkspaces: before.Workspaces} {
		all, err := m.readRemovals(file)
		if err != nil {
			return err
		}
		for name, id := range all[remote] {
			if tips[name] == "" {
				tips[name] = id
			}
		}
	}
	return nil
}

// rememberRemoved records the names in before that are missing in after. A zero before clears the
// names that a pull has handled.
func (m *SessionManager) rememberRemoved(remote string, before, after Tips) error {
	return errors.Join(m.rememberIn(removedSessions, remote, before.Sessions, after.Sessions),
		m.rememberIn(removedWorkspaces, remote, before.Workspaces, after.Workspaces))
}

func (m *SessionManager) rememberIn(file, remote string, before, after map[string]string) error {
	all, err := m.readRemovals(file)
	if err != nil {
		return err
	}
	gone := map[string]string{}
	if before != nil {
		maps.Copy(gone, all[remote])
		maps.Copy(gone, before)
	}
	maps.DeleteFunc(gone, func(name, _ string) bool { return after[name] != "" })
	if maps.Equal(gone, all[remote]) {
		return nil
	}
	all[remote] = gone
	if len(gone) == 0 {
		delete(all, remote)
	}
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(m.env.StateDir, file), data); err != nil {
		return fmt.Errorf("writing the record of sessions removed at remotes: %w", err)
	}
	return nil
}
