package agents

import (
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/claudecode"
	"github.com/domarkx/domarkx/format/cursor"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

func cursorCLI() Agent {
	home := at("CURSOR_CONFIG_DIR", ".cursor")
	return Agent{
		Name: cursor.Name, Program: "cursor-agent",
		Home: home, Files: []string{"projects/*/agent-transcripts/**/*.jsonl"}, Origin: named,
		Hooks: Hooks{
			Scopes: []Scope{User, Project}, Header: transcript.Object("version", int64(1)), Files: inDirectory(home, ".cursor", "hooks.json"),
			Events:   []string{"sessionStart", "beforeSubmitPrompt", "preToolUse", "postToolUse", "stop", "sessionEnd"},
			More:     map[string]Kind{"afterFileEdit": ToolsDone, "afterShellExecution": ToolsDone},
			Entry:    func(command string) jsonvalue.Value { return transcript.Object("command", command) },
			Payloads: Payloads{Session: "conversation_id", Trees: "workspace_roots", Runs: runsCursor},
		},
		Servers: serversIn(inDirectory(home, ".cursor", "mcp.json")),
	}
}

// runsCursor reports whether Cursor runs a hook, which also runs those of Claude Code.
func runsCursor(_ string, p Payload) bool {
	return p.Text("cursor_version") != "" || p.Text("conversation_id") != "" && p.Text("session_id") == ""
}

// named returns the work tree from whose path Cursor made the name of a project: it replaces
// each character but letters and digits. The path cannot be recovered from the name.
func named(e Environment, trees []string, file string) (dir string, ok bool) {
	project, ok := firstBelow(filepath.Join(e.or("CURSOR_CONFIG_DIR", ".cursor"), "projects"), file)
	for _, tree := range trees {
		if ok && strings.Trim(project, "-") == strings.Trim(claudecode.DirectoryName(tree), "-") {
			return tree, true
		}
	}
	return "", false
}
