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
// of it, on this machine, for the next pull: by remote and session, the snapshot
// that the remote had.
type removals map[string]map[string]string

func (m *SessionManager) removedFile() string {
	return filepath.Join(m.around.StateDir, "removed.json")
}

func (m *SessionManager) readRemovals() (removals, error) {
	all := removals{}
	data, err := os.ReadFile(m.removedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading what was removed at remotes: %w", err)
	}
	if json.Unmarshal(data, &all) != nil {
		return removals{}, nil // damaged: then a session stays that could have gone
	}
	return all, nil
}

// recallRemoved adds to what a remote had before what earlier fetches found
// removed.
func (m *SessionManager) recallRemoved(remote string, before map[string]string) error {
	all, err := m.readRemovals()
	if err != nil {
		return err
	}
	for name, id := range all[remote] {
		if before[name] == "" {
			before[name] = id
		}
	}
	return nil
}

// rememberRemoved leaves word of what a remote had before and has no more.
func (m *SessionManager) rememberRemoved(remote string, before, after map[string]string) error {
	all, err := m.readRemovals()
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
	if err := replaceFile(m.removedFile(), data); err != nil {
		return fmt.Errorf("remembering what was removed at remotes: %w", err)
	}
	return nil
}
