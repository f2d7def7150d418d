package transcripts

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/opencode"
)

// A starter says how to start an agent on one of its transcripts.
type starter struct {
	// dir is the directory below that of the agent to which the paths of the format's documents
	// are relative; "" if the agent takes documents only by the command in take.
	dir  func(a Agent, e Environment, workDir string) (string, error)
	take []string // arguments that import a document, whose path follows
	args func(id string) []string
	// aside is set if the agent writes a new file before it reads that of the session. It has the same
	// name if the session began in the same minute.
	aside bool
}

func below(name string) func(Agent, Environment, string) (string, error) {
	return func(a Agent, e Environment, _ string) (string, error) { return filepath.Join(a.dir(e), name), nil }
}

func option(words ...string) func(string) []string {
	return func(id string) []string { return append(slices.Clone(words), id) }
}

// starters are the agents that can go on with a transcript that another program wrote.
func starters() map[string]starter {
	return map[string]starter{
		"claude-code": {dir: below("projects"), args: option("--resume")},
		"codex":       {dir: below("sessions"), args: option("resume")},
		"copilot":     {dir: below("session-state"), args: func(id string) []string { return []string{"--resume=" + id} }},
		"gemini":      {dir: geminiProject, args: option("--resume"), aside: true},
		"opencode":    {take: []string{"import"}, args: option("--session")},
		"qwen":        {dir: below("projects"), args: option("--resume")},
	}
}

// CanResume reports whether the agent can go on with a transcript that this program wrote.
func (a Agent) CanResume() bool {
	_, ok := starters()[a.Name]
	return ok
}

// ResumeDir returns the directory to which the paths of new transcripts for a working
// directory are relative. It is "" if the agent has to import a document instead, see
// [Agent.ImportCommand]. If the agent does not know the working directory yet, the error
// matches domarkx.ErrNotFound.
func (a Agent) ResumeDir(e Environment, workDir string) (string, error) {
	s := starters()[a.Name]
	if s.dir == nil {
		return "", nil
	}
	dir, err := s.dir(a, e, workDir)
	if err == nil && !filepath.IsAbs(dir) {
		return "", errors.New("the home directory is not known; set HOME to its absolute path")
	}
	return dir, err
}

// ImportCommand returns the command with which the agent imports a document.
func (a Agent) ImportCommand(path string) []string {
	return append(append([]string{a.Program}, starters()[a.Name].take...), path)
}

// Aside reports whether a new transcript must have a path that the agent would not choose itself.
func (a Agent) Aside() bool { return starters()[a.Name].aside }

// NewID returns a UUID for a new session. It begins with the time, so that files sort by it. Only
// Codex makes UUIDs of version 7, and Qwen Code takes none, so others are of version 4.
func (a Agent) NewID() (string, error) {
	id, err := uuid.NewV7()
	if a.Name != "codex" {
		id[6] = id[6]&0x0f | 0x40
	}
	return id.String(), err
}

// SessionID returns the id that the agent's session has when it is written with a UUID.
func (a Agent) SessionID(uuid string) string {
	if a.Name == opencode.Name {
		return opencode.SessionID(uuid)
	}
	return uuid
}

// ResumeCommand returns the command that starts the agent on its session with this id.
func (a Agent) ResumeCommand(id string) []string {
	return append([]string{a.Program}, starters()[a.Name].args(id)...)
}

// HasSession returns the file of the agent's session with this id, and whether it exists. There is none
// with an id that the agent would take for an option.
func (a Agent) HasSession(files []string, id string) (string, bool) {
	if id == "" || id[0] == '-' {
		return "", false
	}
	i := slices.IndexFunc(files, func(file string) bool {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		return name == id || strings.HasSuffix(name, "-"+id) || strings.HasSuffix(file, "#"+id) || name == "events" && filepath.Base(filepath.Dir(file)) == id
	})
	if i < 0 {
		return "", false
	}
	return files[i], true
}

// geminiProject returns Gemini CLI's directory for a project, whose name only the program
// knows.
func geminiProject(a Agent, e Environment, workDir string) (string, error) {
	data, err := readSmall(filepath.Join(a.dir(e), "projects.json"))
	var known struct {
		Projects map[string]string `json:"projects"`
	}
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	name := known.Projects[workDir]
	if err != nil || name == "" || name != filepath.Base(name) {
		return "", fmt.Errorf("%w: gemini does not know the directory %q yet; start it there once", domarkx.ErrNotFound, workDir)
	}
	return filepath.Join(a.dir(e), "tmp", name), nil
}
