package agents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format"
)

// The sources of a session's path, as Zeus calls them.
const (
	sourceRuntime = "runtime"       // the agent noted it
	sourceEnv     = "env"           // it was started with it
	sourceFolder  = "cwd"           // the newest session of the folder that it works in
	sourceTmux    = "tmux"          // tmux has it, in an option or the command
	sourceOption  = "tmux-option"   // a hoplite's, in an option
	sourceCommand = "start-command" // a hoplite's, in the command
)

// kittySession returns the session of an agent in kitty: the one that it noted itself,
// else the one that it was started with, if that is there, else the newest of its
// folder.
func (d *Desk) kittySession(a Agent) (path, source string) {
	if path := d.noted(a.ID); path != "" {
		return path, sourceRuntime
	}
	if path := d.expand(a.path); isFile(path) {
		return path, sourceEnv
	}
	if path := d.newestIn(a.Folder); path != "" {
		return path, sourceFolder
	}
	return "", ""
}

func stygianSession(a Agent) (path, source string) {
	if isFile(a.path) {
		return a.path, sourceEnv
	}
	if a.path == "" {
		if path := inCommand(a.command); isFile(path) {
			return path, sourceTmux
		}
	}
	return "", ""
}

func (d *Desk) hopliteSession(a Agent) (path, source string) {
	if isFile(a.path) {
		return a.path, sourceOption
	}
	if path := d.noted(a.ID); path != "" {
		return path, sourceRuntime
	}
	if path := inCommand(a.command); isFile(path) {
		return path, sourceCommand
	}
	return "", ""
}

// inCommand returns the session's path in the command that an agent was started with.
func inCommand(command string) string {
	m := startedPath.FindStringSubmatch(command)
	if m == nil {
		return ""
	}
	return strings.Trim(m[1], `"'`)
}

// expand returns an absolute path for one that may begin with ~; "" for any other.
func (d *Desk) expand(path string) string {
	path = strings.TrimSpace(path)
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		path = filepath.Join(d.Getenv("HOME"), rest)
	}
	if !filepath.IsAbs(path) {
		return ""
	}
	return path
}

// maxNoteAge is how old a note may be that an agent made of its session.
const maxNoteAge = 24 * time.Hour

var agentID = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// noted returns the session that an agent noted itself to be in, if that is there and
// the note is not too old; else "".
func (d *Desk) noted(id string) string {
	if !agentID.MatchString(id) {
		return ""
	}
	for _, dir := range d.noteDirs() {
		data, err := os.ReadFile(filepath.Join(dir, id+".json"))
		var note struct{ AgentID, SessionPath, UpdatedAt string }
		if err != nil || json.Unmarshal(data, &note) != nil {
			continue
		}
		if owner := strings.TrimSpace(note.AgentID); owner != "" && owner != id {
			continue
		}
		updated, ok := format.ParseTime(strings.TrimSpace(note.UpdatedAt))
		if !ok || d.Now().Sub(updated) > d.noteAge() {
			continue
		}
		if path := d.expand(note.SessionPath); isFile(path) {
			return path
		}
	}
	return ""
}

func (d *Desk) noteDirs() []string {
	if dir := d.expand(d.Getenv("ZEUS_SESSION_MAP_DIR")); dir != "" {
		return []string{dir}
	}
	var dirs []string
	for _, state := range d.StateDirs {
		dirs = append(dirs, filepath.Join(state, "session-map"))
	}
	return dirs
}

func (d *Desk) noteAge() time.Duration {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(d.Getenv("ZEUS_SESSION_MAP_MAX_AGE_S")), 64)
	if err != nil || seconds <= 0 || seconds > 1e9 {
		return maxNoteAge
	}
	return time.Duration(seconds * float64(time.Second))
}

// newestIn returns the newest session that pi has of a folder; "" for none. Their
// names begin with the time.
func (d *Desk) newestIn(folder string) string {
	if folder == "" {
		return ""
	}
	name := "--" + strings.NewReplacer("/", "-", ":", "-").Replace(strings.TrimLeft(folder, "/")) + "--"
	dir := filepath.Join(d.Getenv("HOME"), ".pi", "agent", "sessions", name)
	files, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, f := range slices.Backward(files) { // by name
		if path := filepath.Join(dir, f.Name()); strings.HasSuffix(f.Name(), ".jsonl") && isFile(path) {
			return path
		}
	}
	return ""
}
