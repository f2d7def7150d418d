package agents

import "github.com/domarkx/domarkx/format/qwen"

func qwenCode() Agent {
	home := func(e Environment) string { return e.home(".qwen") }
	settings := inDirectory(home, ".qwen", "settings.json")
	return Agent{
		Name: qwen.Name, Program: "qwen", Install: "npm install -g @qwen-code/qwen-code",
		Home: home, Files: []string{"projects/*/chats/*.jsonl"}, Origin: stated("cwd"),
		Resume: Resume{Dir: below(home, "projects"), Args: option("--resume")},
		Hooks: Hooks{
			Scopes: []Scope{User, Project}, Entry: nested(milliseconds), Files: settings,
			Events: []string{"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"}, Batch: "PostToolBatch", Since: "0.24.4",
			Payloads: Payloads{
				Call: "tool_call_id", // tool_use_id is in no transcript
				Repeats: func(k Kind, p Payload) bool { // it submits the results of calls as an empty prompt
					return k == PromptSubmit && string(p["prompt"]) == `""`
				},
			},
		},
		Servers: serversIn(settings),
	}
}
