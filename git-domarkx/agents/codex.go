package agents

import (
	"path/filepath"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/domarkx/domarkx/format/codex"
)

func codexCLI() Agent {
	home := at("CODEX_HOME", ".codex")
	return Agent{
		Name: codex.Name, Program: "codex", Install: "npm install -g @openai/codex",
		Home: home, Origin: stated("payload", "cwd"), Files: []string{"sessions/**/rollout-*.jsonl", "sessions/**/rollout-*.jsonl.zst",
			"archived_sessions/**/rollout-*.jsonl", "archived_sessions/**/rollout-*.jsonl.zst"},
		Resume: Resume{Dir: below(home, "sessions"), Args: option("resume"), Version7: true},
		Hooks: Hooks{
			Scopes: []Scope{User, Project}, Entry: nested(seconds), Files: inDirectory(home, ".codex", "hooks.json"),
			Events:   []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"},
			Review:   "Codex runs a hook only after you reviewed it: start codex, which asks for it, or type /hooks there",
			Reviewed: codexReviewed,
		},
		Servers: func(_ Scope, p Place) []Servers {
			return serversAt([]string{filepath.Join(home(p.Environ), "config.toml")}, nil)
		},
	}
}

// codexReviewed reports whether the user has reviewed the hooks in a file. Codex stores a digest of each
// reviewed hook, which only Codex can compute, so a change after the review is not detected.
func codexReviewed(p Place, file string) bool {
	var config struct {
		Hooks struct {
			State map[string]struct {
				Trusted string `toml:"trusted_hash"`
			} `toml:"state"`
		} `toml:"hooks"`
	}
	if _, err := toml.DecodeFile(filepath.Join(p.Environ.or("CODEX_HOME", ".codex"), "config.toml"), &config); err != nil {
		return false
	}
	reviewed := 0
	for key, state := range config.Hooks.State {
		if strings.HasPrefix(key, file+":") && state.Trusted != "" {
			reviewed++
		}
	}
	return reviewed >= len(codexCLI().Hooks.Events)
}
