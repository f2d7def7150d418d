package hooks

import (
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents"
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
	command := Quote(p.Program) + " agent hook " + a.Name
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
		return Quote(strings.ReplaceAll(inner, `'\''`, "'")) == program
	}
	return program == "git domarkx" || Quote(program) == program
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

// Quote returns a word for a POSIX shell.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./=:", r)
	}
	if word != "" && !slices.ContainsFunc([]rune(word), func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
