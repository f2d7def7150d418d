package recording

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxPayload is how many bytes of the input of a hook are read. Results of tools can be larger;
// what an event needs comes before them.
const MaxPayload = 4 << 20

// A payload has the members of the hooks of all agents that events need.
type payload struct {
	Event         string   `json:"hook_event_name"`
	SessionID     string   `json:"session_id"`
	SessionId     string   `json:"sessionId"`       //nolint:revive,staticcheck // Copilot CLI's
	Conversation  string   `json:"conversation_id"` // Cursor
	CursorVersion string   `json:"cursor_version"`
	Transcript    string   `json:"transcript_path"`
	TranscriptTwo string   `json:"transcriptPath"` // Copilot CLI
	Dir           string   `json:"cwd"`
	Roots         []string `json:"workspace_roots"` // Cursor
	Call          string   `json:"tool_use_id"`
	CallTwo       string   `json:"toolCallId"`
	CallThree     string   `json:"tool_call_id"` // Qwen Code; its tool_use_id occurs in no transcript
	Prompt        *string  `json:"prompt"`
	Timestamp     any      `json:"timestamp"`
	Calls         []struct {
		ID string `json:"tool_use_id"`
	} `json:"tool_calls"`
}

// maxText and maxCalls limit what an event takes from a payload.
const (
	maxText  = 4096
	maxCalls = 256
)

// ReadPayload returns the event that a hook reports. agent is the agent for which the hook was
// installed, and name the event for which it was, or "". Cursor and Copilot CLI also run the hooks
// of Claude Code, so the payload decides which agent it is. What cannot be read is left out.
func ReadPayload(data []byte, agent, name string, now time.Time) Event {
	var p payload
	if json.Unmarshal(data, &p) != nil {
		p = partialPayload(data)
	}
	installed := agent
	if p.CursorVersion != "" || p.Conversation != "" && p.SessionID == "" {
		agent = "cursor"
	}
	if agent == "claude-code" && p.Timestamp != nil && (p.Transcript == "" || filepath.Base(p.Transcript) == "events.jsonl") {
		agent = "copilot"
	}
	e := Event{Agent: agent, Time: now.UTC()}
	e.Name = clip(cmp.Or(p.Event, name))
	e.Kind = kindOf(e.Name)
	if e.Kind == PromptSubmit && agent == "qwen" && p.Prompt != nil && *p.Prompt == "" {
		e.Kind = Other // Qwen Code submits the results of calls as an empty prompt
	}
	if e.Kind == CallBegins && agent != installed {
		e.Kind = Other // when a program runs another agent's hooks, it runs only some of them
	}
	e.Session = clip(cmp.Or(p.SessionID, p.SessionId, p.Conversation))
	e.Transcript = clip(cmp.Or(p.Transcript, p.TranscriptTwo))
	e.Dir = p.Dir
	if e.Dir == "" && len(p.Roots) > 0 {
		e.Dir = p.Roots[0]
	}
	if e.Dir = clip(e.Dir); !filepath.IsAbs(e.Dir) {
		e.Dir = ""
	}
	if id := cmp.Or(p.CallThree, p.Call, p.CallTwo); id != "" {
		e.Calls = append(e.Calls, clip(id))
	}
	for _, call := range p.Calls[:min(len(p.Calls), maxCalls)] {
		if call.ID != "" {
			e.Calls = append(e.Calls, clip(call.ID))
		}
	}
	return e
}

// partialPayload reads the members at the beginning of an object that is cut off.
func partialPayload(data []byte) payload {
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	members := map[string]json.RawMessage{}
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return payload{}
	}
	for decoder.More() && len(members) < 100 {
		name, err := decoder.Token()
		text, ok := name.(string)
		if err != nil || !ok {
			break
		}
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			break
		}
		members[text] = value
	}
	var p payload
	for _, name := range []string{"hook_event_name", "session_id", "sessionId", "conversation_id", "cursor_version",
		"transcript_path", "transcriptPath", "cwd", "workspace_roots", "tool_use_id", "toolCallId", "tool_call_id", "prompt", "timestamp"} {
		if value, ok := members[name]; ok {
			one, err := json.Marshal(map[string]json.RawMessage{name: value})
			if err == nil {
				_ = json.Unmarshal(one, &p) // a member of another type is left out
			}
		}
	}
	return p
}

// clip shortens a text, at the border of a character.
func clip(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	text = text[:maxText]
	for !utf8.ValidString(text) {
		text = text[:len(text)-1]
	}
	return text
}
