package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A renaming is what became of a name. Remotes know nothing of it, so it is
// remembered, on this machine: a pull does not bring the old name back, and a push
// removes it there when it sends the new one.
type renaming struct {
	To  string `json:"to"`
	Tip string `json:"tip"` // the snapshot that the session was at
}

func (m *SessionManager) renamedFile() string {
	return filepath.Join(m.around.StateDir, "renamed.json")
}

// readRenamings returns the renamings by old name.
func (m *SessionManager) readRenamings() (map[string]renaming, error) {
	all := map[string]renaming{}
	data, err := os.ReadFile(m.renamedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the record of renames: %w", err)
	}
	if json.Unmarshal(data, &all) != nil {
		return map[string]renaming{}, nil // damaged: then an old name can come back
	}
	return all, nil
}

// rememberRenamed is called before the session moves, so that no kill lets the
// old name come back. Of a rename that did not come about it does no harm: what
// is known of a name is asked for only where no session has it.
func (m *SessionManager) rememberRenamed(from string, r renaming) error {
	if from == r.To {
		return nil
	}
	all, err := m.readRenamings()
	if err != nil {
		return err
	}
	delete(all, r.To)
	all[from] = r
	data, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		return err
	}
	if err := replaceFile(m.renamedFile(), data); err != nil {
		return fmt.Errorf("writing the record of renames: %w", err)
	}
	return nil
}

// renamedHere reports whether a session was renamed here when it held all that a
// snapshot holds.
func (m *SessionManager) renamedHere(ctx context.Context, name, id string) (bool, error) {
	all, err := m.readRenamings()
	if err != nil || all[name].Tip == "" {
		return false, err
	}
	held, err := m.store.IsAncestor(ctx, id, all[name].Tip)
	return held && err == nil, nil // a tip that was collected tells nothing
}

// withNewNames adds to the names of sessions those that they were given here.
func (m *SessionManager) withNewNames(names []string, local map[string]string) ([]string, error) {
	all, err := m.readRenamings()
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		seen[name] = true
	}
	for _, name := range names {
		for local[name] == "" && all[name].To != "" && !seen[all[name].To] {
			name = all[name].To // what was renamed may have been renamed again
			seen[name] = true
			if local[name] != "" {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
