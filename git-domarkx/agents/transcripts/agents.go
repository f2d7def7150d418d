// Package transcripts finds the transcripts that coding agents keep on this machine, and
// those whose conversation began in a repository. It opens nothing but regular files below
// the agents' own directories, and changes none.
package transcripts

import (
	"path/filepath"
)

// An Agent is a coding agent that keeps transcripts on this machine.
type Agent struct {
	Name    string // name of the format of its transcripts
	Program string // name of its executable
	Install string // the command that installs it; "" if there is none for all systems

	dir      func(e Environment) string
	patterns []string // of paths below the directory; "**" stands for any number of directories
	// began returns the directory in which a conversation began. It is nil if the files are databases
	// of OpenCode.
	began func(e Environment, trees []string, file string) (dir string, ok bool)
}

// An Environment reads an environment variable.
type Environment func(name string) string

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

// Agents returns the known agents, sorted by name.
func Agents() []Agent {
	return []Agent{
		{"claude-code", "claude", "npm install -g @anthropic-ai/claude-code", func(e Environment) string { return e.or("CLAUDE_CONFIG_DIR", ".claude") },
			[]string{"projects/*/*.jsonl", "projects/*/*/subagents/**/*.jsonl"}, stated},
		{"codex", "codex", "npm install -g @openai/codex", func(e Environment) string { return e.or("CODEX_HOME", ".codex") },
			[]string{"sessions/**/rollout-*.jsonl", "sessions/**/rollout-*.jsonl.zst",
				"archived_sessions/**/rollout-*.jsonl", "archived_sessions/**/rollout-*.jsonl.zst"}, stated},
		{"copilot", "copilot", "npm install -g @github/copilot", func(e Environment) string { return e.or("COPILOT_HOME", ".copilot") },
			[]string{"session-state/*/events.jsonl"}, stated},
		{"cursor", "cursor-agent", "", func(e Environment) string { return e.or("CURSOR_CONFIG_DIR", ".cursor") },
			[]string{"projects/*/agent-transcripts/**/*.jsonl"}, named},
		{"gemini", "gemini", "npm install -g @google/gemini-cli", func(e Environment) string { return e.home(".gemini") },
			[]string{"tmp/*/chats/**/*.jsonl", "tmp/*/chats/**/*.json"}, rooted},
		{"opencode", "opencode", "npm install -g opencode-ai", func(e Environment) string {
			if data := e("XDG_DATA_HOME"); filepath.IsAbs(data) {
				return filepath.Join(data, "opencode")
			}
			return e.home(".local", "share", "opencode")
		}, []string{"opencode.db", "opencode-*.db", "storage/session/*/ses_*.json"}, nil},
		{"pi", "pi", "npm install -g @mariozechner/pi-coding-agent", func(e Environment) string { return e.or("PI_CODING_AGENT_DIR", ".pi", "agent") },
			[]string{"sessions/**/*.jsonl"}, stated},
		{"qwen", "qwen", "npm install -g @qwen-code/qwen-code", func(e Environment) string { return e.home(".qwen") },
			[]string{"projects/*/chats/*.jsonl"}, stated},
	}
}

// Dir returns the directory in which the agent keeps its files. It may not exist.
func (a Agent) Dir(e Environment) string { return a.dir(e) }
