// Package agents is the table of the coding agents: one value for each, in a file of its own, says
// where it keeps its transcripts, how it goes on with one, and how it notifies this program. The
// package also finds transcripts, and those whose conversation began in a repository. It opens nothing
// but regular files below the agents' own directories, and changes none.
package agents

import (
	"path/filepath"
	"slices"
	"strings"
)

// All returns the known agents, sorted by name.
func All() []Agent {
	return []Agent{claudeCode(), codexCLI(), copilotCLI(), cursorCLI(), geminiCLI(), openCode(), piCLI(), qwenCode()}
}

// ByName returns the agent with a name.
func ByName(name string) (Agent, bool) {
	for _, a := range All() {
		if a.Name == name {
			return a, true
		}
	}
	return Agent{}, false
}

// An Agent is a coding agent that keeps transcripts on this machine.
type Agent struct {
	Name    string // name of the format of its transcripts
	Program string // name of its executable
	Install string // the command that installs it; "" if there is none for all systems

	// Home returns the directory in which it keeps its files. It may not exist.
	Home func(e Environment) string
	// Files are patterns of transcripts' paths below the directory; "**" stands for any number of
	// directories.
	Files []string
	// Origin returns the directory in which the conversation of a file began. It is nil if the files
	// are databases of OpenCode. trees are the work trees of a repository, without symbolic links.
	Origin func(e Environment, trees []string, file string) (dir string, ok bool)
	// StatesStop reports that the last message of each turn has a stop reason.
	StatesStop bool

	Resume Resume
	Hooks  Hooks
	// Servers returns where it keeps its MCP servers. It is nil if it has none.
	Servers func(s Scope, p Place) []Servers
}

// An Environment reads an environment variable.
type Environment func(name string) string

// WithoutGit returns an environment without Git's variables of a repository or of a moment, which agents may have set.
func WithoutGit(env []string) []string {
	names := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_OBJECT_DIRECTORY",
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"}
	return slices.DeleteFunc(env, func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		return slices.Contains(names, name)
	})
}

// home returns a path below the user's home directory.
func (e Environment) home(elements ...string) string {
	return filepath.Join(append([]string{e("HOME")}, elements...)...)
}

// or returns the absolute path in a variable, or else a path below the home directory.
func (e Environment) or(variable string, elements ...string) string {
	if dir := e(variable); filepath.IsAbs(dir) {
		return dir
	}
	return e.home(elements...)
}

// at returns a function that returns [Environment.or] for an environment.
func at(variable string, elements ...string) func(e Environment) string {
	return func(e Environment) string { return e.or(variable, elements...) }
}
