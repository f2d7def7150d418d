// Package hooks installs this program's hooks in the settings of coding agents, and removes them.
// It edits settings as text, so that all else in them keeps its bytes. It never answers a question
// of an agent in the user's place.
//
// People comment and order these files. So entries are inserted at the end of their container in the
// file's own style, and a [Record] on this machine has the bytes before. Uninstalling restores them if
// nobody has changed the file since; otherwise it removes only this program's entries.
package hooks

import (
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// An Agent is an agent whose settings can be edited.
type Agent struct {
	agents.Agent
	events []string
}

// Of returns an agent with the hooks that all versions of its program know.
func Of(a agents.Agent) Agent { return Agent{a, a.Hooks.Events} }

// command returns the command of an agent's hook for an event. Others may have this program
// elsewhere, or not at all.
func (a Agent) command(s agents.Scope, p agents.Place, event string) string {
	command := refname.Argument(p.Program) + " agent hook " + a.Name
	if s == agents.Project {
		command = "git domarkx agent hook " + a.Name
	}
	if a.Hooks.Named {
		command += " " + event
	}
	if s == agents.Project {
		command += quiet
	}
	return command
}

// quiet ends the commands of a project's hooks.
const quiet = " 2>/dev/null || true"

// isWritten reports whether a command that isOurs accepts is one that this program writes, and not one
// in which the user does more.
func (a Agent) isWritten(command string) bool {
	program, after, _ := strings.Cut(command, " agent hook "+a.Name)
	event := strings.TrimPrefix(strings.TrimSuffix(after, quiet), " ")
	if event != "" && !(a.Hooks.Named && slices.Contains(a.events, event)) {
		return false
	}
	inner, quoted := strings.CutPrefix(program, "'")
	inner, ends := strings.CutSuffix(inner, "'")
	if quoted && ends {
		return !strings.Contains(strings.ReplaceAll(inner, `'\''`, ""), "'")
	}
	return program == "git domarkx" || refname.Argument(program) == program
}

// isOurs reports whether a command is one of this program's hooks for the agent.
func (a Agent) isOurs(command string) bool {
	before, after, ok := strings.Cut(command, " agent hook "+a.Name)
	if !ok || after != "" && after[0] != ' ' {
		return false
	}
	before = strings.TrimRight(before, `'"`)
	return strings.HasSuffix(before, "git-domarkx") || strings.HasSuffix(before, "git-domarkx.exe") || strings.HasSuffix(before, "git domarkx")
}

// Installed returns the scopes in which all hooks of the agent are installed.
func (a Agent) Installed(p agents.Place) []agents.Scope {
	var scopes []agents.Scope
	for _, scope := range a.Hooks.Scopes {
		files := a.Hooks.Files(scope, p)
		missing := func(path string) bool {
			f, err := ReadFile(path)
			return err != nil || f.Missing || !a.has(f.Data)
		}
		if len(files) > 0 && !slices.ContainsFunc(files, missing) {
			scopes = append(scopes, scope)
		}
	}
	return scopes
}

// Reviewed reports whether the user has reviewed the hooks; it is true for agents that need no
// review.
func (a Agent) Reviewed(p agents.Place) bool {
	if a.Hooks.Reviewed == nil {
		return true
	}
	for _, scope := range a.Installed(p) {
		if slices.ContainsFunc(a.Hooks.Files(scope, p), func(file string) bool { return a.Hooks.Reviewed(p, file) }) {
			return true
		}
	}
	return false
}

// At returns the agent with the hooks that the installed version of its program knows. version
// returns "" if the version is unknown. It omits unknown hooks, because some versions ignore a whole
// settings file that names one. A file for all who have the repository never gets them, because others
// may have another version.
func (a Agent) At(version func() string) Agent {
	if a.Hooks.Batch != "" && slices.Compare(numbers(version()), numbers(a.Hooks.Since)) >= 0 {
		a.events = slices.Clone(a.events)
		a.events[slices.Index(a.events, a.call())] = a.Hooks.Batch
	}
	return a
}

// call returns the event after a call, whose place the one after a batch of calls takes.
func (a Agent) call() string {
	return a.Hooks.Events[slices.IndexFunc(a.Hooks.Events, func(event string) bool { return agents.KindOf(event) == agents.ToolsDone })]
}

// numbers returns the numbers with which a version begins, such as 2.1.330.
func numbers(version string) (list []int) {
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			break
		}
		list = append(list, n)
	}
	return list
}
