package zeus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format"
	zeusformat "github.com/domarkx/domarkx/format/zeus"
)

// The sources of a session's path, with Zeus's names for them.
const (
	sourceRuntime   = "runtime"       // the agent's own note
	sourceEnv       = "env"           // the environment the agent was started with
	sourceDirectory = "cwd"           // the newest session of the working directory
	sourceTmux      = "tmux"          // a tmux option or the start command
	sourceOption    = "tmux-option"   // of a hoplite: a tmux option
	sourceCommand   = "start-command" // of a hoplite: the start command
)

// sessionOf returns the session file of an agent, and where its path is from: the first of the places that are known for its
// kind which names a file.
func (t *Terminals) sessionOf(a Agent) (path, source string) {
	var places [][2]string
	switch {
	case a.Kind == zeusformat.Kitty:
		places = [][2]string{{t.noted(a.ID), sourceRuntime}, {t.expand(a.window.Env.Path), sourceEnv}, {t.newestIn(a.Directory), sourceDirectory}}
	case a.Kind == zeusformat.Hoplite:
		places = [][2]string{{a.tmux.path, sourceOption}, {t.noted(a.ID), sourceRuntime}, {inCommand(a.tmux.command), sourceCommand}}
	case a.tmux.path != "":
		places = [][2]string{{a.tmux.path, sourceEnv}}
	default:
		places = [][2]string{{inCommand(a.tmux.command), sourceTmux}}
	}
	for _, p := range places {
		if isFile(p[0]) {
			return p[0], p[1]
		}
	}
	return "", ""
}

// inCommand returns the session path in the command that started an agent.
func inCommand(command string) string {
	m := startedPath().FindStringSubmatch(command)
	if m == nil {
		return ""
	}
	return strings.Trim(m[1], `"'`)
}

// expand expands a leading ~/ and returns an absolute path. It returns "" for other
// relative paths.
func (t *Terminals) expand(path string) string {
	path = strings.TrimSpace(path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(t.Getenv("HOME"), rest)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// maxNoteAge is the maximum age of an agent's note about its session.
const maxNoteAge = 24 * time.Hour

var agentID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]+$`) })

// noted returns the session file that an agent noted. It returns "" if the file does not
// exist or the note is too old.
func (t *Terminals) noted(id string) string {
	if !agentID().MatchString(id) {
		return ""
	}
	for _, dir := range t.noteDirs() {
		data, err := os.ReadFile(filepath.Join(dir, id+".json"))
		var note struct{ AgentID, SessionPath, UpdatedAt string }
		if err != nil || json.Unmarshal(data, &note) != nil {
			continue
		}
		if owner := strings.TrimSpace(note.AgentID); owner != "" && owner != id {
			continue
		}
		updated, ok := format.ParseTime(strings.TrimSpace(note.UpdatedAt))
		if !ok || t.Now().Sub(updated) > t.noteAge() {
			continue
		}
		if path := t.expand(note.SessionPath); isFile(path) {
			return path
		}
	}
	return ""
}

func (t *Terminals) noteDirs() []string {
	if dir := t.expand(t.Getenv("ZEUS_SESSION_MAP_DIR")); dir != "" {
		return []string{dir}
	}
	var dirs []string
	for _, state := range t.StateDirs {
		dirs = append(dirs, filepath.Join(state, "session-map"))
	}
	return dirs
}

func (t *Terminals) noteAge() time.Duration {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(t.Getenv("ZEUS_SESSION_MAP_MAX_AGE_S")), 64)
	if err != nil || seconds <= 0 || seconds > 1e9 {
		return maxNoteAge
	}
	return time.Duration(seconds * float64(time.Second))
}

// newestIn returns pi's newest session file for a working directory, or "" if there are
// none. The names of session files start with the time.
func (t *Terminals) newestIn(directory string) string {
	if directory == "" {
		return ""
	}
	name := "--" + strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimLeft(directory, "/")) + "--"
	dir := filepath.Join(t.Getenv("HOME"), ".pi", "agent", "sessions", name)
	files, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, f := range slices.Backward(files) { // ReadDir sorts by name
		if path := filepath.Join(dir, f.Name()); strings.HasSuffix(f.Name(), ".jsonl") && isFile(path) {
			return path
		}
	}
	return ""
}
