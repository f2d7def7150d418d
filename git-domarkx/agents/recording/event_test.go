package recording_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/git-domarkx/agents"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
)

func TestReadPayload(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	tests := []struct {
		name, agent, event, data string
		want                     recording.Event
	}{
		{"Claude Code", "claude-code", "", `{"session_id":"s","transcript_path":"/t.jsonl","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":"secret"}`,
			recording.Event{Agent: "claude-code", Kind: agents.PromptSubmit, Name: "UserPromptSubmit", Session: "s", Transcript: "/t.jsonl", Dir: "/w", Time: now}},
		{"a batch of tools", "claude-code", "", `{"session_id":"s","cwd":"/w","hook_event_name":"PostToolBatch","tool_calls":[{"tool_use_id":"a"},{"tool_use_id":"b"}]}`,
			recording.Event{Agent: "claude-code", Kind: agents.ToolsDone, Name: "PostToolBatch", Session: "s", Dir: "/w", Calls: []string{"a", "b"}, Time: now}},
		{"Copilot CLI names no event", "copilot", "agentStop", `{"sessionId":"s","timestamp":1,"cwd":"/w","transcriptPath":"/t","stopReason":"end"}`,
			recording.Event{Agent: "copilot", Kind: agents.TurnStop, Name: "agentStop", Session: "s", Transcript: "/t", Dir: "/w", Time: now}},
		{"Cursor runs a hook of Claude Code", "claude-code", "Stop", `{"conversation_id":"c","hook_event_name":"stop","cursor_version":"2","workspace_roots":["/w","/x"]}`,
			recording.Event{Agent: "cursor", Kind: agents.TurnStop, Name: "stop", Session: "c", Dir: "/w", Time: now}},
		{"Copilot CLI runs a hook of Claude Code", "claude-code", "", `{"session_id":"s","timestamp":"2026-01-02T03:04:05Z","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"bash"}`,
			recording.Event{Agent: "copilot", Kind: agents.Other, Name: "PreToolUse", Session: "s", Dir: "/w", Time: now}},
		{"Copilot CLI runs the last hook of Claude Code", "claude-code", "", `{"session_id":"s","timestamp":1,"transcript_path":"/h/.copilot/session-state/s/events.jsonl","cwd":"/w","hook_event_name":"Stop"}`,
			recording.Event{Agent: "copilot", Kind: agents.TurnStop, Name: "Stop", Session: "s", Transcript: "/h/.copilot/session-state/s/events.jsonl", Dir: "/w", Time: now}},
		{"Qwen Code names a call twice", "qwen", "", `{"session_id":"s","cwd":"/w","timestamp":"2026","hook_event_name":"PreToolUse","tool_use_id":"toolu_1","tool_call_id":"call_1"}`,
			recording.Event{Agent: "qwen", Kind: agents.CallBegins, Name: "PreToolUse", Session: "s", Dir: "/w", Calls: []string{"call_1"}, Time: now}},
		{"Qwen Code submits results", "qwen", "", `{"session_id":"s","cwd":"/w","hook_event_name":"UserPromptSubmit","prompt":""}`,
			recording.Event{Agent: "qwen", Kind: agents.Other, Name: "UserPromptSubmit", Session: "s", Dir: "/w", Time: now}},
		{"Gemini CLI", "gemini", "", `{"session_id":"s","cwd":"/w","hook_event_name":"AfterTool","tool_response":{"x":[1]}}`,
			recording.Event{Agent: "gemini", Kind: agents.ToolsDone, Name: "AfterTool", Session: "s", Dir: "/w", Time: now}},
		{"a payload that is cut off", "claude-code", "PostToolUse", `{"session_id":"s","cwd":"/w","tool_response":"` + strings.Repeat("x", 100),
			recording.Event{Agent: "claude-code", Kind: agents.ToolsDone, Name: "PostToolUse", Session: "s", Dir: "/w", Time: now}},
		{"members of other types", "qwen", "Stop", `{"session_id":7,"cwd":"/w","hook_event_name":["x"]}`,
			recording.Event{Agent: "qwen", Kind: agents.TurnStop, Name: "Stop", Dir: "/w", Time: now}},
		{"a relative directory", "codex", "", `{"cwd":"../x","session_id":"s"}`, recording.Event{Agent: "codex", Kind: agents.Other, Session: "s", Time: now}},
		{"nothing", "codex", "Stop", "", recording.Event{Agent: "codex", Kind: agents.TurnStop, Name: "Stop", Time: now}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := recording.ReadPayload([]byte(tt.data), tt.agent, tt.event, now)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// FuzzReadPayload checks that no payload makes an event that the watcher could not read.
func FuzzReadPayload(f *testing.F) {
	f.Add([]byte(`{"session_id":"s","cwd":"/w","hook_event_name":"Stop","tool_calls":[{"tool_use_id":"a"}]}`))
	f.Add([]byte(`{"conversation_id":"c","workspace_roots":["/w"]`))
	f.Add([]byte("{\"cwd\":\"/\xff\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		e := recording.ReadPayload(data, "codex", "Stop", time.Now().Round(0).UTC())
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var again recording.Event
		if err := json.Unmarshal(text, &again); err != nil || !cmp.Equal(e, again) {
			t.Errorf("%v: %s", err, cmp.Diff(e, again))
		}
		if len(e.Session) > 4096 || len(e.Dir) > 4096 || len(e.Calls) > 300 {
			t.Error("an event is not bounded")
		}
	})
}
