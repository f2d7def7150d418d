package engine

import (
	"fmt"
	"path/filepath"

	"github.com/domarkx/domarkx/git-domarkx/engine/local"
)

// A Renaming is the new name of a session that was renamed on this machine. Remotes do not know about it. A pull uses it to
// avoid restoring the old name, and a push to remove the old name when it sends the new one.
type Renaming struct {
	To  string `json:"to"`
	Tip string `json:"tip"` // the newest snapshot of the session at that time
}

func (m *SessionManager) renamedFile() string {
	return filepath.Join(m.env.StateDir, "renamed.json")
}

// Renamings returns the renamings by old name.
func (m *SessionManager) Renamings() (map[string]Renaming, error) {
	all, err := local.ReadMap[Renaming](m.renamedFile()) // if the file is damaged, a pull may restore an old name
	if err != nil {
		return nil, fmt.Errorf("reading the record of renames: %w", err)
	}
	return all, nil
}

// RememberRenamed records a renaming. It is called before the session moves, so that the old name
// cannot return if the process is killed. If the session does not move after all, the record does
// no harm, because it is only used for names without a session.
func (m *SessionManager) RememberRenamed(from string, r Renaming) error {
	if from == r.To {
		return nil
	}
	all, err := m.Renamings()
	if err != nil {
		return err
	}
	delete(all, r.To)
	all[from] = r
	if err := local.WriteMap(m.renamedFile(), all); err != nil {
		return fmt.Errorf("writing the record of renames: %w", err)
	}
	return nil
}
