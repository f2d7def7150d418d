package zeus

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// StateDir returns the directory of Zeus's state. It uses the first of these that is set:
// ZEUS_STATE_DIR, configured (this program's own setting), storage.state_dir in Zeus's
// config.toml, Zeus's home.
func StateDir(getenv func(string) string, configured string) string {
	home := expandHome(getenv, cmp.Or(getenv("ZEUS_HOME"), "~/.zeus"))
	dir := cmp.Or(getenv("ZEUS_STATE_DIR"), configured)
	for _, file := range []string{filepath.Join(home, "config.toml"), filepath.Join(getenv("HOME"), ".config", "zeus", "config.toml")} {
		if dir != "" {
			break
		}
		var config map[string]any
		if _, err := toml.DecodeFile(file, &config); err != nil {
			continue // Zeus skips an invalid file too
		}
		storage, _ := config["storage"].(map[string]any)
		said, _ := storage["state_dir"].(string)
		if dir = strings.TrimSpace(said); dir == "" {
			break // Zeus does not read the other file either
		}
	}
	return expandHome(getenv, cmp.Or(dir, home))
}

// expandHome replaces ~ in a path with the user's home directory.
func expandHome(getenv func(string) string, path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(getenv("HOME"), rest)
	}
	return path
}

// windowNotes returns the notes about kitty's windows from a file of Zeus's state, by
// key: the path of its kitty instance's socket, and the window number. It returns none if the file cannot be read.
func (t *Terminals) windowNotes(file string) map[string]string {
	for _, dir := range t.StateDirs {
		var all map[string]any
		data, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || json.Unmarshal(data, &all) != nil {
			continue
		}
		notes := map[string]string{}
		for key, v := range all {
			if s, ok := v.(string); ok && strings.TrimSpace(s) != "" {
				notes[key] = strings.TrimSpace(s)
			}
		}
		return notes
	}
	return nil
}

// The files with notes about windows.
const (
	windowIDs   = "zeus-agent-ids.json" // agent ids
	windowNames = "zeus-names.json"     // names that users gave to agents
)
