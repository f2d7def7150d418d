package agents

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"
)

// StateDir returns the folder in which Zeus keeps its state. It is where Zeus itself
// looks for it: ZEUS_STATE_DIR, else storage.state_dir in its config.toml, else its
// home. configured, unless empty, is what the user told this program instead of that
// file.
func StateDir(getenv func(string) string, configured string) string {
	home := zeusHome(getenv)
	dir := cmp.Or(getenv("ZEUS_STATE_DIR"), configured)
	for _, file := range []string{filepath.Join(home, "config.toml"), filepath.Join(getenv("HOME"), ".config", "zeus", "config.toml")} {
		if dir != "" {
			break
		}
		var config map[string]any
		if _, err := toml.DecodeFile(file, &config); err != nil {
			continue // as Zeus does
		}
		storage, _ := config["storage"].(map[string]any)
		said, _ := storage["state_dir"].(string)
		if dir = strings.TrimSpace(said); dir == "" {
			break // the other one is not asked
		}
	}
	return expandHome(getenv, cmp.Or(dir, home))
}

func zeusHome(getenv func(string) string) string {
	return expandHome(getenv, cmp.Or(getenv("ZEUS_HOME"), "~/.zeus"))
}

// expandHome returns a path in which ~ is the user's home.
func expandHome(getenv func(string) string, path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || rest[0] == '/') {
		return filepath.Join(getenv("HOME"), rest)
	}
	return path
}

// windowNotes returns what Zeus noted of kitty's windows in a file of its state, by
// [windowKey]; nothing when it did not.
func (d *Desk) windowNotes(file string) map[string]string {
	for _, dir := range d.StateDirs {
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

// The files of window notes.
const (
	windowIDs   = "zeus-agent-ids.json" // the ids of agents
	windowNames = "zeus-names.json"     // the names that the user gave them since
)

// windowKey is what Zeus calls a window: by the path of the socket at which its kitty
// listens, and its number there.
func windowKey(address string, id int64) string {
	return fmt.Sprintf("%s:%d", strings.TrimPrefix(address, "unix:"), id)
}
