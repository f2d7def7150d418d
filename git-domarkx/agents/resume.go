package agents

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Resume says how an agent goes on with a transcript that another program wrote. It cannot if Args is nil.
type Resume struct {
	// Dir returns the directory to which the paths of new transcripts for a working directory are
	// relative. It is nil if the agent takes documents only by the command Import, whose path follows.
	Dir    func(e Environment, workDir string) (string, error)
	Import []string
	// Args are the arguments that start it on its session with an id.
	Args func(id string) []string
	// Aside is set if the agent writes a new file before it reads that of the session. It has the same
	// name if the session began in the same minute.
	Aside bool
	// Version7 is set if its ids are UUIDs of version 7.
	Version7 bool
	// ID returns the id that a session has when it is written with a UUID; nil if that is the UUID.
	ID func(uuid string) string
	// Model returns the model that the agent is to ask when it goes on with a new transcript, as it
	// spells it. It is nil for agents that choose one themselves.
	Model func(ctx context.Context, e Environment, workDir string) (string, error)
}

func below(home func(Environment) string, name string) func(Environment, string) (string, error) {
	return func(e Environment, _ string) (string, error) { return filepath.Join(home(e), name), nil }
}

func option(words ...string) func(string) []string {
	return func(id string) []string { return append(slices.Clone(words), id) }
}

// CanResume reports whether the agent can go on with a transcript that this program wrote.
func (a Agent) CanResume() bool { return a.Resume.Args != nil }

// ResumeDir returns the directory to which the paths of new transcripts for a working
// directory are relative. It is "" if the agent has to import a document instead, see
// [Agent.ImportCommand]. If the agent does not know the working directory yet, the error
// matches domarkx.ErrNotFound.
func (a Agent) ResumeDir(e Environment, workDir string) (string, error) {
	if a.Resume.Dir == nil {
		return "", nil
	}
	dir, err := a.Resume.Dir(e, workDir)
	if err == nil && !filepath.IsAbs(dir) {
		return "", errors.New("the home directory is not known; set HOME to its absolute path")
	}
	return dir, err
}

// ImportCommand returns the command with which the agent imports a document.
func (a Agent) ImportCommand(path string) []string {
	return slices.Concat([]string{a.Program}, a.Resume.Import, []string{path})
}

// NewID returns a UUID for a new session. It begins with the time, so that files sort by it. Some
// agents take none of version 7, so others are of version 4.
func (a Agent) NewID() (string, error) {
	id, err := uuid.NewV7()
	if !a.Resume.Version7 {
		id[6] = id[6]&0x0f | 0x40
	}
	return id.String(), err
}

// SessionID returns the id that the agent's session has when it is written with a UUID.
func (a Agent) SessionID(uuid string) string {
	if a.Resume.ID == nil {
		return uuid
	}
	return a.Resume.ID(uuid)
}

// ResumeCommand returns the command that starts the agent on its session with this id.
func (a Agent) ResumeCommand(id string) []string {
	return append([]string{a.Program}, a.Resume.Args(id)...)
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
