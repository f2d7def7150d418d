package agents

import (
	"path/filepath"

	"github.com/domarkx/domarkx/format/claudecode"
)

func claudeCode() Agent {
	home := at("CLAUDE_CONFIG_DIR", ".claude")
	return Agent{
		Name: claudecode.Name, Program: "claude", Install: "npm install -g @anthropic-ai/claude-code",
		Home: home, Files: []string{"projects/*/*.jsonl", "projects/*/*/subagents/**/*.jsonl"}, Origin: stated("cwd"),
		Resume: Resume{Dir: below(home, "projects"), Args: option("--resume")},
		Hooks: Hooks{
			Scopes: []Scope{Local, User, Project}, Entry: nested(seconds), Variable: "CLAUDE_PROJECT_DIR",
			Events: []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd"},
			// Before 2.1.101, it ignores a whole settings file that names an event which it does not know.
			Batch: "PostToolBatch", Since: "2.1.145", More: map[string]Kind{"PostToolUseFailure": ToolsDone},
			Files: func(s Scope, p Place) []string {
				if s == Local {
					return p.inTrees(".claude", "settings.local.json")
				}
				return inDirectory(home, ".claude", "settings.json")(s, p)
			},
		},
		Servers: claudeServers,
	}
}

// claudeServers returns where Claude Code keeps servers: those of a user, also for one directory, in a
// file with its own state; those of a project in a file of the repository, which it asks about.
func claudeServers(s Scope, p Place) (all []Servers) {
	state := filepath.Join(p.Environ.or("CLAUDE_CONFIG_DIR"), ".claude.json")
	switch s {
	case Project:
		return serversAt(p.inMain(".mcp.json"), serverEntry, "mcpServers")
	case User:
		return serversAt([]string{state}, serverEntry, "mcpServers")
	}
	for _, tree := range p.Trees {
		all = append(all, Servers{state, []string{"projects", tree, "mcpServers"}, serverEntry})
	}
	return all
}
