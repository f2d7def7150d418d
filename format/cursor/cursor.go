// Package cursor reads the transcripts that Cursor writes beside its own databases, JSON lines of a
// message each. SPEC.md beside this code says how they become domarkx sessions.
package cursor

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "cursor"

// Codec returns the codec for transcripts of Cursor. They can only be read.
func Codec() format.Codec {
	return transcript.Codec(&transcript.Agent{Name: Name, Program: "Cursor", Is: is, Note: note, Say: say, Unrecorded: true,
		Skips: []string{"input"}})
}

func is(v jsonvalue.Value) bool {
	role := transcript.Text(v, "role")
	return (role == "user" || role == "assistant") && !transcript.Has(v, "type") && transcript.Get(v, "message", "content").Kind() == jsonvalue.Array
}

// note extracts from a line what the index needs.
func note(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	n := transcript.Note{}
	content := transcript.Get(v, "message", "content")
	switch transcript.Text(v, "role") {
	case "user":
		text, at := prompt(content)
		if text != "" {
			n.Kind, n.Text, n.Time = transcript.Prompt, text, at
		}
		s.Context = at
	case "assistant":
		n.Kind, n.Alone = transcript.Answer, true
		for _, item := range content.Items() {
			if id := transcript.Text(item, "id"); transcript.Text(item, "type") == "tool_use" && id != "" {
				n.Calls = append(n.Calls, id)
			}
		}
	}
	return n
}

// prompt returns the text that the user typed, and its time.
func prompt(content jsonvalue.Value) (text, at string) {
	var texts []string
	for _, item := range content.Items() {
		text := transcript.Text(item, "text")
		if stamp, ok := element(text, "timestamp"); ok {
			at = strings.TrimSpace(stamp)
		}
		if query, ok := element(text, "user_query"); ok {
			text = strings.TrimSpace(query)
		} else if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, "<") && strings.HasSuffix(trimmed, ">") {
			continue // the program's additions
		}
		if strings.TrimSpace(text) != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n"), at
}

func element(text, name string) (string, bool) {
	_, rest, ok := strings.Cut(text, "<"+name+">")
	if !ok {
		return "", false
	}
	inner, _, ok := strings.Cut(rest, "</"+name+">")
	return inner, ok
}

// say adds the content of a line to a message. Lines have no IDs; the ID of the message is derived
// from its text.
func say(v jsonvalue.Value, m *transcript.Message) {
	sum := sha256.Sum256(v.AppendJSON(nil, "", ""))
	m.Said(hex.EncodeToString(sum[:12]), m.Context)
	content := transcript.Get(v, "message", "content")
	if m.Role == domarkx.User {
		text, at := prompt(content)
		m.Text(text)
		m.Said("", at)
		return
	}
	for i, item := range content.Items() {
		switch text := transcript.Text(item, "text"); {
		case transcript.Text(item, "type") == "tool_use":
			id := transcript.Text(item, "id")
			if id == "" {
				id = "call_" + hex.EncodeToString(sum[:8]) + "_" + string(rune('a'+i%26))
				if i >= 26 {
					id += strconv.Itoa(i / 26)
				}
			}
			m.Call(transcript.Call{ID: id, Tool: transcript.Text(item, "name"), Arguments: transcript.Get(item, "input")})
		case strings.TrimSpace(text) != "[REDACTED]": // placeholder that Cursor writes in place of reasoning
			m.Text(strings.TrimSuffix(strings.TrimRight(text, " \n"), "[REDACTED]"))
		}
	}
}
