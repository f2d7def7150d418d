package recording

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

// Dir returns the directory of recording in a repository, given its common directory.
func Dir(commonDir string) string { return filepath.Join(commonDir, "domarkx", "recording") }

// Settings say which agents are recorded in a repository.
type Settings struct {
	All    time.Time            `json:"all,omitzero"` // since when all agents are recorded; zero if not all are
	Agents map[string]time.Time `json:"agents,omitempty"`
	Paused time.Time            `json:"paused,omitzero"` // since when nothing is recorded; zero if it is not paused
}

// Since returns the time from which on an agent is recorded. ok is false if it is not recorded.
func (s Settings) Since(agent string) (time.Time, bool) {
	since, ok := s.Agents[agent]
	if !s.All.IsZero() && (!ok || s.All.Before(since)) {
		return s.All, true
	}
	return since, ok
}

// Enabled reports whether any agent is to be recorded now.
func (s Settings) Enabled() bool {
	return s.Paused.IsZero() && (len(s.Agents) > 0 || !s.All.IsZero())
}

func settingsPath(dir string) string { return filepath.Join(dir, "settings.json") }

// maxSettings is the maximum size of a settings file, in bytes.
const maxSettings = 64 << 10

// ReadSettings reads the settings of a repository. Without a file, nothing is recorded.
func ReadSettings(dir string) (Settings, error) {
	var s Settings
	data, err := agents.ReadRegular(settingsPath(dir), maxSettings)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil {
		return Settings{}, fmt.Errorf("reading what is recorded (%s): %w", settingsPath(dir), err)
	}
	return s, nil
}

// LockSettings keeps other processes from changing the agents that are recorded in a repository, and the settings
// of agents for it, until the file is closed. It waits for those that do.
func LockSettings(ctx context.Context, dir string) (*os.File, error) {
	lock, err := openLock(filepath.Join(dir, "settings.lock"))
	if err == nil {
		if err = atomicfile.Lock(ctx, lock); err == nil || errors.Is(err, errors.ErrUnsupported) {
			return lock, nil
		}
		lock.Close()
	}
	return nil, fmt.Errorf("changing what is recorded: %w", err)
}

// ChangeSettings changes the settings of a repository. It waits for other processes that change
// them.
func ChangeSettings(ctx context.Context, dir string, change func(*Settings)) error {
	lock, err := LockSettings(ctx, dir)
	if err != nil {
		return err
	}
	defer lock.Close()
	s, err := ReadSettings(dir)
	if err != nil {
		return err
	}
	if s.Agents == nil {
		s.Agents = map[string]time.Time{}
	}
	change(&s)
	data, err := json.MarshalIndent(s, "", " ")
	if err == nil {
		err = atomicfile.Replace(settingsPath(dir), append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("changing what is recorded: %w", err)
	}
	return nil
}
