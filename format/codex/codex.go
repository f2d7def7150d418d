// Package codex reads and writes the transcripts of Codex CLI, JSON lines of a record each. SPEC.md
// beside this code says how they become domarkx sessions and back.
package codex

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "codex"

// Codec returns the codec for transcripts of Codex.
func Codec() format.Codec {
	return transcript.Codec(&transcript.Agent{Name: Name, Program: "Codex", Is: is, Note: note, Say: say, Write: write, Path: path, Version7: true,
		Skips: []string{"arguments", "input", "output", "encrypted_content", "base_instructions", "instructions", "aggregated_output",
			"replacement_history", "changes", "dynamic_tools", "state", "stdout", "stderr", "formatted_output", "summary", "rate_limits", "image_url", "result"}})
}

// The types of records that the decoder interprets. Before version 0.32, records had no envelope: the
// first line was the later payload of session_meta, and the other lines were payloads of
// response_item.
const (
	typeMeta     = "session_meta"
	typeItem     = "response_item"
	typeEvent    = "event_msg"
	typeContext  = "turn_context"
	typeUsage    = "token_usage_record"
	typeCompacts = "compacted"
)

func is(v jsonvalue.Value) bool {
	payload := transcript.Get(v, "payload")
	switch transcript.Text(v, "type") {
	case typeMeta, typeItem, typeEvent, typeContext, typeCompacts, "world_state", typeUsage:
		return payload.Kind() == jsonvalue.Object && transcript.Has(v, "timestamp")
	case "":
		return transcript.Has(v, "id", "timestamp", "instructions")
	}
	return false
}

// record returns the type, payload and time of a record.
func record(v jsonvalue.Value) (kind string, payload jsonvalue.Value, at string) {
	kind, at = transcript.Text(v, "type"), transcript.Text(v, "timestamp")
	if p := transcript.Get(v, "payload"); p.Kind() == jsonvalue.Object {
		return kind, p, at
	}
	switch {
	case kind == "" && transcript.Has(v, "id", "timestamp"):
		return typeMeta, v, at
	case kind != "" && kind != typeMeta:
		return typeItem, v, at
	}
	return "", jsonvalue.Value{}, at
}

// The ranks of titles. A title replaces another one of equal or lower rank.
const rankThread = 1

// note extracts from a record what the index needs.
func note(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	kind, payload, at := record(v)
	switch kind {
	case typeMeta:
		if s.ID == "" { // the first session_meta counts; others were copied from the parent session
			s.ID = transcript.Text(payload, "id")
			s.Parent = cmp.Or(transcript.Text(payload, "source", "subagent", "thread_spawn", "parent_thread_id"), transcript.Text(payload, "parent_thread_id"))
			s.In(transcript.Text(payload, "cwd"), transcript.Text(payload, "git", "branch"))
			s.Context = context{Cwd: transcript.Text(payload, "cwd"), Branch: transcript.Text(payload, "git", "branch")}.String()
		}
	case typeContext:
		c := contextOf(s.Context)
		c.Cwd, c.Model = cmp.Or(transcript.Text(payload, "cwd"), c.Cwd), cmp.Or(transcript.Text(payload, "model"), c.Model)
		s.In(c.Cwd, "")
		s.Context = c.String()
	case typeItem:
		return item(payload, at)
	case typeUsage:
		s.Memory = ""
		return transcript.Note{Kind: transcript.About}
	case typeEvent:
		return event(payload, s)
	}
	return transcript.Note{}
}

// item extracts what the index needs from a response_item.
func item(payload jsonvalue.Value, at string) transcript.Note {
	n := transcript.Note{Time: at}
	call := transcript.Text(payload, "call_id")
	switch kind := transcript.Text(payload, "type"); kind {
	case "message":
		switch transcript.Text(payload, "role") {
		case "user":
			if n.Text = strings.Join(promptTexts(payload), "\n\n"); n.Text != "" || slices.ContainsFunc(transcript.Get(payload, "content").Items(), isImage) {
				n.Kind = transcript.Prompt
			}
		case "assistant":
			n.Kind = transcript.Answer
		}
	case "agent_message", "reasoning":
		n.Kind = transcript.Answer
	default:
		switch {
		case strings.HasSuffix(kind, "_call_output") || kind == "tool_search_output":
			if call != "" {
				n.Results = []string{call}
			}
		case strings.HasSuffix(kind, "_call"):
			n.Kind = transcript.Answer
			if call = cmp.Or(call, transcript.Text(payload, "id")); call != "" {
				n.Calls = []string{call}
			}
		}
	}
	return n
}

// event extracts what the index needs from an event_msg. The conversation itself is in the
// response_items; events only add what those lack.
func event(payload jsonvalue.Value, s *transcript.Session) transcript.Note {
	switch transcript.Text(payload, "type") {
	case "thread_name_updated":
		s.Named(transcript.Text(payload, "thread_name"), rankThread)
	case "token_count": // sent even without an answer; the sum is then that of the previous response
		total := transcript.Get(payload, "info", "total_token_usage").JSON()
		if transcript.Get(payload, "info").Kind() != jsonvalue.Object || s.Memory == total {
			break
		}
		s.Memory = total
		return transcript.Note{Kind: transcript.About}
	case "turn_aborted":
		return transcript.Note{Kind: transcript.About}
	case "thread_rolled_back":
		if n := transcript.Int(payload, "num_turns"); n > 0 {
			return transcript.Note{Link: transcript.Link{Drop: int(min(n, 1<<20))}}
		}
	}
	return transcript.Note{}
}

// A context holds the fields of a turn_context record for the answers that follow it.
type context struct{ Cwd, Branch, Model string }

// String returns a context in the encoding that [transcript.Session] stores.
func (c context) String() string { return c.Cwd + "\x00" + c.Branch + "\x00" + c.Model }

func contextOf(s string) context {
	cwd, rest, _ := strings.Cut(s, "\x00")
	branch, model, _ := strings.Cut(rest, "\x00")
	return context{cwd, branch, model}
}

// promptTexts returns the texts that the user typed in a message. It leaves out texts that the program
// added: new versions mark those, and in old versions they are known by their beginnings.
func promptTexts(payload jsonvalue.Value) []string {
	var texts []string
	about := transcript.Get(payload, "internal_chat_message_metadata_passthrough", "content_item_metadata").Items()
	for i, item := range transcript.Get(payload, "content").Items() {
		text := transcript.Text(item, "text")
		if i < len(about) && transcript.Text(about[i], "provenance", "type") == "harness" || isAdded(text) || strings.TrimSpace(text) == "" {
			continue
		}
		texts = append(texts, text)
	}
	return texts
}

// isAdded reports whether a text begins like one that the program adds.
func isAdded(text string) bool {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "# AGENTS.md instructions") {
		return true
	}
	name, rest, ok := strings.Cut(strings.TrimPrefix(text, "<"), ">")
	return ok && strings.HasPrefix(text, "<") && added[name] && strings.Contains(rest, "</"+name+">")
}

var added = map[string]bool{"environment_context": true, "user_instructions": true, "permissions instructions": true, "turn_aborted": true, "skill": true,
	"skills_instructions": true, "subagent_notification": true, "collaboration_mode": true, "user_shell_command": true, "INSTRUCTIONS": true}

func isImage(item jsonvalue.Value) bool { return transcript.Text(item, "type") == "input_image" }

// idOf returns the ID of a record. If the record has none, the ID is derived from its time and
// content, so that it is the same in each later version of the file.
func idOf(payload jsonvalue.Value, at string) string {
	if id := cmp.Or(transcript.Text(payload, "id"), transcript.Text(payload, "call_id")); id != "" {
		return id
	}
	data := []byte(at + "\n" + transcript.Text(payload, "type") + "\n" + transcript.Text(payload, "role") + "\n")
	for _, name := range []string{"content", "summary"} {
		data = transcript.Get(payload, name).AppendJSON(data, "", "")
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}
