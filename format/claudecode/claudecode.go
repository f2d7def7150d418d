// Package claudecode reads and writes the transcripts of Claude Code, JSON lines of a record each.
// SPEC.md beside this code says how they become domarkx sessions and back.
package claudecode

import (
	"cmp"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "claude-code"

// Codec returns the codec for transcripts of Claude Code.
func Codec() format.Codec {
	return transcript.Codec(&transcript.Agent{Name: Name, Program: "Claude Code", Is: is, Note: note, Say: say, Write: write, Path: path,
		Skips:     []string{"toolUseResult", "input", "usage", "thinking", "signature", "source", "snapshot", "rendered", "shape", "params", "systemPrompt", "tools"},
		SkipsText: []string{"data", "output", "fullOutput"}})
}

// The types of records that the decoder interprets. Records of other types are stored unchanged.
const (
	typeUser       = "user"
	typeAssistant  = "assistant"
	typeAttachment = "attachment"
	typeQueue      = "queue-operation"
	typeSummary    = "summary"
	typeProgress   = "progress"
	subProgress    = "agent_progress" // of the data of a progress record
)

// is reports whether an object can be the first record of a transcript. Records of Claude Code have a
// session ID, except for the summaries and file snapshots that old versions wrote.
func is(v jsonvalue.Value) bool {
	if transcript.Has(transcript.Get(v, "message"), "parts") || transcript.Has(v, "provenance") { // Qwen Code
		return false
	}
	kind := transcript.Text(v, "type")
	switch kind {
	case "":
		return false
	case typeSummary:
		return transcript.Has(v, "summary", "leafUuid")
	case "file-history-snapshot", "file-history-delta":
		return transcript.Has(v, "messageId")
	case typeUser, typeAssistant, "system", typeAttachment, typeProgress:
		return transcript.Has(v, "parentUuid", "isSidechain") || // the ids may follow a long text, outside of head
			transcript.Has(v, "sessionId", "uuid") && (transcript.Has(v, "parentUuid") || transcript.Has(v, "isSidechain"))
	}
	return records[kind] && transcript.Text(v, "sessionId") != ""
}

// records are the types of records, other than messages, with which a transcript may begin.
var records = map[string]bool{typeQueue: true, "custom-title": true, "ai-title": true, "agent-name": true, "last-prompt": true, "permission-mode": true,
	"mode": true, "tools-used": true, "atis-latch": true, "cost-state": true, "pr-link": true, "worktree-state": true, "relocated": true, "tag": true,
	"frame-link": true, "bridge-session": true, "api-request": true, "api-request-shape": true, "api-request-blob": true, "started": true, "result": true}

// The ranks of titles. A title replaces another one of equal or lower rank.
const (
	rankSummary = iota + 1
	rankAI
	rankAgent
	rankCustom
)

// note extracts from a record what the index needs.
func note(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	kind := transcript.Text(v, "type")
	switch kind {
	case typeSummary:
		s.Named(transcript.Text(v, "summary"), rankSummary)
	case "ai-title":
		s.Named(transcript.Text(v, "aiTitle"), rankAI)
	case "agent-name":
		s.Named(transcript.Text(v, "agentName"), rankAgent)
	case "custom-title":
		s.Named(transcript.Text(v, "customTitle"), rankCustom)
	case typeQueue:
		s.ID = cmp.Or(s.ID, transcript.Text(v, "sessionId"))
		return queued(v)
	case typeProgress:
		return progress(v, s)
	case subProgress: // only its prompt
		return transcript.Note{Kind: transcript.Prompt, Text: transcript.Text(v, "prompt")}
	case typeUser, typeAssistant, typeAttachment:
		return said(kind, v, s)
	}
	return transcript.Note{}
}

// said extracts what the index needs from a record that is part of the conversation's chain (linked by
// parentUuid).
func said(kind string, v jsonvalue.Value, s *transcript.Session) transcript.Note {
	sub := ""
	if transcript.Get(v, "isSidechain").IsTrue() {
		sub = cmp.Or(transcript.Text(v, "agentId"), "sidechain")
	}
	id := transcript.Text(v, "sessionId")
	switch {
	case s.Memory == transcript.Nested:
	case s.Memory == "": // the first record determines the session's identity
		s.Memory = "main"
		if sub != "" {
			s.Memory, s.Sub, s.Parent = sub, sub, id
		}
	case sub != "" && s.Sub == "": // old versions wrote the messages of sub-agents between those of the session
		return transcript.Note{Inner: transcript.Inner{Sub: sub, Items: []jsonvalue.Value{v}}}
	case sub != s.Sub:
		return transcript.Note{}
	}
	s.ID = cmp.Or(id, s.ID) // a resumed session may begin with records copied from the earlier session
	if s.Sub != "" {
		s.Parent = s.ID
	}
	n := transcript.Note{Once: transcript.Text(v, "uuid"), Time: transcript.Text(v, "timestamp")}
	switch kind {
	case typeAttachment:
		if transcript.Text(v, "attachment", "type") == "queued_command" {
			if text := promptText(transcript.Get(v, "attachment", "prompt")); text != "" {
				n.Kind, n.Text = transcript.Prompt, text
			}
		}
	case typeAssistant:
		n.Kind, n.Group = transcript.Answer, transcript.Text(v, "message", "id")
		if n.Group != "" {
			n.Group += " " + transcript.Text(v, "requestId")
		}
		for _, item := range transcript.Get(v, "message", "content").Items() {
			if id := transcript.Text(item, "id"); isCall(item) && id != "" {
				n.Calls = append(n.Calls, id)
			}
			if s.Memory == transcript.Nested {
				n.Text += transcript.Text(item, "text")
			}
		}
	case typeUser:
		content := transcript.Get(v, "message", "content")
		for _, item := range content.Items() {
			if id := transcript.Text(item, "tool_use_id"); isResult(item) && id != "" {
				n.Results = append(n.Results, id)
			}
		}
		if isAdded(v) {
			break
		}
		if n.Text = promptText(content); n.Text == "" && !slices.ContainsFunc(content.Items(), isImage) {
			break
		}
		n.Kind = transcript.Prompt
		if len(n.Results) == 0 && !isSummary(v) {
			n.After = transcript.Text(v, "parentUuid")
		}
	}
	if n.Kind != transcript.Other {
		cwd, branch, _ := strings.Cut(s.Context, "\n")
		s.In(cmp.Or(transcript.Text(v, "cwd"), cwd), cmp.Or(branchOf(v), branch))
	}
	return n
}

// progress extracts a sub-agent's messages from a record of its progress. Versions before those with a file for each
// sub-agent wrote that nowhere else; versions between them wrote both.
func progress(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	data := transcript.Get(v, "data")
	id := cmp.Or(transcript.Text(data, "agentId"), transcript.Text(v, "parentToolUseID"))
	if transcript.Text(data, "type") != subProgress || id == "" || s.Sub != "" || s.Memory == transcript.Nested {
		return transcript.Note{}
	}
	n := transcript.Inner{Sub: id, Copies: transcript.Get(data, "normalizedMessages").Items(), Context: transcript.Text(v, "cwd") + "\n" + branchOf(v)}
	if transcript.Text(data, "prompt") != "" { // the record with the prompt may be missing
		n.Copies = append([]jsonvalue.Value{data}, n.Copies...)
	}
	if message := transcript.Get(data, "message"); message.Kind() == jsonvalue.Object {
		n.Items = []jsonvalue.Value{message}
	}
	return transcript.Note{Inner: n}
}

// queued returns a prompt that was typed while the agent worked. It is ignored if a later user message
// contains it.
func queued(v jsonvalue.Value) transcript.Note {
	text := strings.TrimSpace(transcript.Text(v, "content"))
	if transcript.Text(v, "operation") != "enqueue" || shown(text) == "" {
		return transcript.Note{}
	}
	return transcript.Note{Kind: transcript.Prompt, Text: shown(text), Queued: true, Time: transcript.Text(v, "timestamp")}
}

// branchOf returns the Git branch that a record names, or "".
func branchOf(v jsonvalue.Value) string {
	if branch := transcript.Text(v, "gitBranch"); branch != "HEAD" {
		return branch
	}
	return ""
}

func isCall(item jsonvalue.Value) bool {
	kind := transcript.Text(item, "type")
	return (kind == "tool_use" || kind == "server_tool_use" || kind == "mcp_tool_use") && transcript.Text(item, "name") != ""
}

func isResult(item jsonvalue.Value) bool {
	kind := transcript.Text(item, "type")
	return kind == "tool_result" || strings.HasSuffix(kind, "_tool_result")
}

func isImage(item jsonvalue.Value) bool { return transcript.Text(item, "type") == "image" }

// isAdded reports whether the program itself, not the user, wrote a user's record.
func isAdded(v jsonvalue.Value) bool {
	return transcript.Get(v, "isMeta").IsTrue() || transcript.Get(v, "isVisibleInTranscriptOnly").IsTrue() && !isSummary(v)
}

// isSummary reports whether a record is the summary that a compaction made.
func isSummary(v jsonvalue.Value) bool { return transcript.Get(v, "isCompactSummary").IsTrue() }

// promptText returns the text that the user typed in the content of a message.
func promptText(content jsonvalue.Value) string {
	if content.Kind() == jsonvalue.String {
		return shown(content.Text())
	}
	return transcript.JoinTexts(content.Items(), func(item jsonvalue.Value) string {
		if transcript.Text(item, "type") != "text" {
			return ""
		}
		return shown(transcript.Text(item, "text"))
	})
}

// shown returns the part of a user's text that is to be shown: "" if the program added the text, and
// only the command if the text is a command's markup.
func shown(text string) string {
	trimmed := strings.TrimSpace(text)
	if strings.HasPrefix(trimmed, "[Request interrupted by user") && strings.HasSuffix(trimmed, "]") && len(trimmed) < 80 {
		return ""
	}
	if !strings.HasPrefix(trimmed, "<") {
		return text
	}
	elements, ok := markup(trimmed)
	if !ok {
		return text
	}
	if name, ok := elements["command-name"]; ok {
		return strings.TrimSpace(name + " " + elements["command-args"])
	}
	if command, ok := elements["bash-input"]; ok {
		return "!" + command
	}
	return ""
}

// added are the names of the XML-like elements with which the program marks its additions to a prompt.
var added = map[string]bool{"command-name": true, "command-message": true, "command-args": true, "command-contents": true,
	"local-command-stdout": true, "local-command-stderr": true, "local-command-caveat": true, "bash-input": true, "bash-stdout": true, "bash-stderr": true,
	"task-notification": true, "system-reminder": true, "ide_opened_file": true, "ide_selection": true, "ide_diagnostics": true,
	"user-memory-input": true, "user-prompt-submit-hook": true, "session-start-hook": true}

// markup returns the texts of the elements of a text by their names. It returns none if the text has anything outside of them.
func markup(text string) (map[string]string, bool) {
	all := map[string]string{}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(text, "<"), ">")
		if !ok || text[0] != '<' || !added[name] {
			return nil, false
		}
		inner, after, ok := strings.Cut(rest, "</"+name+">")
		if !ok {
			return nil, false
		}
		all[name], text = strings.TrimSpace(inner), after
	}
	return all, true
}
