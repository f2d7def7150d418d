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

// A fetch forgets what a remote has no more; a pull has to know, for what was
// removed there and not changed here goes to the trash. So a fetch leaves word
// of it, on this machine, for the next pull: by remote and name, the tip that the
// remote had.
type removals map[string]map[string]string

// The files that hold the removals of sessions and those of workspaces.
const (
	removedSessions   = "removed.json"
	removedWorkspaces = "removed-workspaces.json"
)

func (m *SessionManager) readRemovals(file string) (removals, error) {
	all := removals{}
	data, err := os.ReadFile(filepath.Join(m.around.StateDir, file))
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of sessions removed at remotes: %w", err)
	}
	if json.Unmarshal(data, &all) != nil {
		return removals{}, nil // damaged: then what could have gone stays
	}
	return all, nil
}

// recallRemoved adds to what a remote had before what earlier fetches found
// removed.
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

// rememberRemoved leaves word of what a remote had before and has no more; of
// nothing when before is zero.
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
	if err := replaceFile(filepath.Join(m.around.StateDir, file), data); err != nil {
		return fmt.Errorf("writing the record of sessions removed at remotes: %w", err)
	}
	return nil
}
