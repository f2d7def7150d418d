package recording

import "time"

// A Kind says what an agent did.
type Kind string

// The kinds of events.
const (
	SessionStart Kind = "start"
	PromptSubmit Kind = "prompt" // the user submitted a prompt, and the agent has not begun with it
	CallBegins   Kind = "call"   // a tool call is about to begin
	ToolsDone    Kind = "tools"  // a tool call, or a batch of them, ended
	TurnStop     Kind = "stop"   // the agent's turn ended
	SessionEnd   Kind = "end"
	Recorded     Kind = "recorded" // the watcher imported what transcripts had; no hook reports this
	Other        Kind = "other"
)

// An Event is something that an agent did, as its hook reports it. All but Agent, Kind and Time is
// foreign text.
type Event struct {
	Agent      string    `json:"agent"`
	Kind       Kind      `json:"kind"`
	Name       string    `json:"event,omitempty"`      // as the agent calls it
	Session    string    `json:"session,omitempty"`    // the agent's own id
	Transcript string    `json:"transcript,omitempty"` // a path that nobody has checked
	Dir        string    `json:"cwd,omitempty"`        // where the agent works
	Calls      []string  `json:"calls,omitempty"`      // ids of the tool calls that begin or ended
	Time       time.Time `json:"time"`                 // when the hook ran

	Stored string `json:"-"` // for Recorded only: name of the session that got a new snapshot
}

// kindOf returns the kind of an event of a hook, by the name that an agent has for it.
func kindOf(name string) Kind {
	switch name {
	case "SessionStart", "sessionStart", "session.created":
		return SessionStart
	case "UserPromptSubmit", "BeforeAgent", "userPromptSubmitted", "beforeSubmitPrompt":
		return PromptSubmit
	case "PreToolUse", "BeforeTool", "preToolUse":
		return CallBegins
	case "PostToolUse", "PostToolBatch", "PostToolUseFailure", "AfterTool", "postToolUse", "afterFileEdit", "afterShellExecution":
		return ToolsDone
	case "Stop", "AfterAgent", "agentStop", "stop", "session.idle":
		return TurnStop
	case "SessionEnd", "sessionEnd":
		return SessionEnd
	}
	return Other
}
