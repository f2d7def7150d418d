package agents

import (
	"path/filepath"

	"github.com/domarkx/domarkx/format/claudecode"
	"github.com/domarkx/domarkx/format/copilot"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

func copilotCLI() Agent {
	home := at("COPILOT_HOME", ".copilot")
	return Agent{
		Name: copilot.Name, Program: "copilot", Install: "npm install -g @github/copilot",
		Home: home, Files: []string{"session-state/*/events.jsonl"}, Origin: stated("data", "context", "cwd"),
		Resume: Resume{Dir: below(home, "session-state"), Args: func(id string) []string { return []string{"--resume=" + id} }},
		Hooks: Hooks{
			Scopes: []Scope{User, Project}, Named: true, Header: transcript.Object("version", int64(1)),
			Events: []string{"sessionStart", "userPromptSubmitted", "preToolUse", "postToolUse", "agentStop", "sessionEnd"},
			Entry: func(command string) jsonvalue.Value {
				return transcript.Object("type", "command", "bash", command, "powershell", command, "timeoutSec", int64(seconds))
			},
			Files: func(s Scope, p Place) []string {
				if s == Project {
					return p.inMain(".github", "hooks", "domarkx.json")
				}
				return []string{filepath.Join(home(p.Environ), "hooks", "domarkx.json")}
			},
			Payloads: Payloads{Session: "sessionId", Transcript: "transcriptPath", Call: "toolCallId", Runs: runsCopilot},
		},
		Servers: func(_ Scope, p Place) []Servers {
			return serversAt([]string{filepath.Join(home(p.Environ), "mcp-config.json")}, func(command []string) jsonvalue.Value {
				return transcript.Object("type", "local", "command", command[0], "args", texts(command[1:]), "tools", texts([]string{"*"}))
			}, "mcpServers")
		},
	}
}

// runsCopilot reports whether Copilot CLI runs a hook, which also runs those of Claude Code.
func runsCopilot(installed string, p Payload) bool {
	path := p.Text("transcript_path")
	return installed == claudecode.Name && !runsCursor(installed, p) && p.Has("timestamp") && (path == "" || filepath.Base(path) == "events.jsonl")
}
