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

// A renaming is the new name of a session that was renamed on this machine. Remotes do not know
// about it. A pull uses it to avoid restoring the old name, and a push to remove the old name
// when it sends the new one.
type renaming struct {
	To  string `json:"to"`
	Tip string `json:"tip"` // the newest snapshot of the session at that time
}

func (m *SessionManager) renamedFile() string {
	return filepath.Join(m.env.StateDir, "renamed.json")
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
		return map[string]renaming{}, nil // damaged: an old name may return
	}
	return all, nil
}

// rememberRenamed records a renaming. It is called before the session moves, so that the old name
// cannot return if the process is killed. If the session does not move after all, the record does
// no harm, because it is only used for names without a session.
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

// renamedHere reports whether a session was renamed here after it contained snapshot id.
func (m *SessionManager) renamedHere(ctx context.Context, name, id string) (bool, error) {
	all, err := m.readRenamings()
	if err != nil || all[name].Tip == "" {
		return false, err
	}
	held, err := m.store.IsAncestor(ctx, id, all[name].Tip)
	return held && err == nil, nil // on error, gc may have removed the tip
}

// withNewNames adds the new names of sessions that were renamed here to names.
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
			name = all[name].To // it may have been renamed several times
			seen[name] = true
			if local[name] != "" {
				names = append(names, name)
			}
		}
	}
	return names, nil
}
