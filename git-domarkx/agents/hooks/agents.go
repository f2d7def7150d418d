package hooks

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/agents/hooks/jsontext"
	"github.com/domarkx/domarkx/git-domarkx/agents/transcripts"
)

// A Scope says for whom hooks are installed.
type Scope string

// The scopes of hooks.
const (
	Local   Scope = "local"   // for this user and this repository
	User    Scope = "user"    // for this user
	Project Scope = "project" // for all who have the repository
)

// An Agent is an agent whose settings can be edited.
type Agent struct {
	Name   string
	Scopes []Scope // that its hooks can have, the narrowest first; none if it needs no hooks
	Review string  // what the user has to do before the hooks run; "" if nothing

	events []string
	batch  string // the first version whose hooks report the end of a batch of calls; "" if there is none
	file   func(s Scope, p Place) []string
	entry  func(command, event string) jsontext.Item
	names  bool             // whether commands name their event, because the agent does not
	header jsontext.Members // other members that the file needs
	mcp    func(s Scope, p Place) mcpPlace
}

// A Place is where agents work.
type Place struct {
	Environ transcripts.Environment
	Trees   []string // the work trees of the repository
	Program string   // the path of this program
}

func (p Place) home(elements ...string) string {
	return filepath.Join(append([]string{p.Environ("HOME")}, elements...)...)
}

// or returns a path below the directory in a variable, or else below one in the user's home.
func (p Place) or(variable, dir, name string) string {
	if value := p.Environ(variable); filepath.IsAbs(value) {
		return filepath.Join(value, name)
	}
	return p.home(dir, name)
}

// inTrees returns the paths of a file in all work trees.
func (p Place) inTrees(elements ...string) []string {
	var paths []string
	for _, tree := range p.Trees {
		paths = append(paths, filepath.Join(append([]string{tree}, elements...)...))
	}
	return paths
}

// inMain returns the path of a file in the main work tree. Files for all who have the repository
// belong to a commit, so one copy is enough.
func (p Place) inMain(elements ...string) []string {
	return p.inTrees(elements...)[:min(1, len(p.Trees))]
}

// nested returns a function that builds a hook entry in the format of Claude Code, Codex, Gemini
// CLI and Qwen Code. timeout is in the unit of the agent.
func nested(timeout int) func(command, event string) jsontext.Item {
	return func(command, _ string) jsontext.Item {
		return jsontext.Members{{Name: "hooks", Value: []jsontext.Item{
			jsontext.Members{{Name: "type", Value: "command"}, {Name: "command", Value: command}, {Name: "timeout", Value: timeout}}}}}
	}
}

// The time limits of hooks in seconds and milliseconds. They return at once; this is for a machine that hangs.
const (
	seconds      = 5
	milliseconds = 5000
)

// Agents returns the agents whose settings can be edited, sorted by name.
func Agents() []Agent {
	toml := func(_ Scope, p Place) mcpPlace {
		return mcpPlace{files: []string{p.or("CODEX_HOME", ".codex", "config.toml")}, toml: true}
	}
	return []Agent{
		{Name: "claude-code", Scopes: []Scope{Local, User, Project}, file: claudeFile, entry: nested(seconds),
			events: []string{"SessionStart", "UserPromptSubmit", "PreToolUse", postCall, "Stop", "SessionEnd"}, batch: "2.1.145", mcp: claudeMCP},
		{Name: "codex", Scopes: []Scope{User, Project}, entry: nested(seconds),
			Review: "Codex runs a hook only after you reviewed it: start codex, which asks for it, or type /hooks there",
			events: []string{"SessionStart", "UserPromptSubmit", "PreToolUse", postCall, "Stop"},
			file: func(s Scope, p Place) []string {
				if s == Project {
					return p.inMain(".codex", "hooks.json")
				}
				return []string{p.or("CODEX_HOME", ".codex", "hooks.json")}
			}, mcp: toml},
		{Name: "copilot", Scopes: []Scope{User, Project}, names: true, header: version,
			events: []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd"},
			entry: func(command, _ string) jsontext.Item {
				return jsontext.Members{{Name: "type", Value: "command"}, {Name: "bash", Value: command}, {Name: "powershell", Value: command}, {Name: "timeoutSec", Value: seconds}}
			},
			file: func(s Scope, p Place) []string {
				if s == Project {
					return p.inMain(".github", "hooks", "domarkx.json")
				}
				return []string{p.or("COPILOT_HOME", ".copilot", filepath.Join("hooks", "domarkx.json"))}
			}, mcp: copilotMCP},
		{Name: "cursor", Scopes: []Scope{User, Project}, header: version,
			events: []string{"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "stop", "sessionEnd"},
			entry: func(command, _ string) jsontext.Item {
				return jsontext.Members{{Name: "command", Value: command}}
			},
			file: dotFile(".cursor", "hooks.json", "CURSOR_CONFIG_DIR"), mcp: serversIn(dotFile(".cursor", "mcp.json", "CURSOR_CONFIG_DIR"))},
		{Name: "gemini", Scopes: []Scope{User, Project}, entry: nested(milliseconds),
			events: []string{"SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd"},
			file:   dotFile(".gemini", "settings.json", ""), mcp: serversIn(dotFile(".gemini", "settings.json", ""))},
		{Name: "opencode", mcp: openCodeMCP},
		{Name: "pi"},
		{Name: "qwen", Scopes: []Scope{User, Project}, entry: nested(milliseconds),
			events: []string{"SessionStart", "UserPromptSubmit", "PreToolUse", postCall, "Stop"}, batch: "0.24.4",
			file: dotFile(".qwen", "settings.json", ""), mcp: serversIn(dotFile(".qwen", "settings.json", ""))},
	}
}

var version = jsontext.Members{{Name: "version", Value: 1}}

// dotFile returns the places of a file in a directory of the user's home, which a variable can
// name, or of the work tree.
func dotFile(dir, name, variable string) func(s Scope, p Place) []string {
	return func(s Scope, p Place) []string {
		if s == Project {
			return p.inMain(dir, name)
		}
		return []string{p.or(variable, dir, name)}
	}
}

func claudeFile(s Scope, p Place) []string {
	switch s {
	case Local:
		return p.inTrees(".claude", "settings.local.json")
	case Project:
		return p.inMain(".claude", "settings.json")
	}
	return []string{p.or("CLAUDE_CONFIG_DIR", ".claude", "settings.json")}
}

// command returns the command of an agent's hook for an event. Others may have this program
// elsewhere, or not at all.
func (a Agent) command(s Scope, p Place, event string) string {
	command := Quote(p.Program) + " agent hook " + a.Name
	if s == Project {
		command = "git domarkx agent hook " + a.Name
	}
	if a.names {
		command += " " + event
	}
	if s == Project {
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
	if event != "" && !(a.names && slices.Contains(a.events, event)) {
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
