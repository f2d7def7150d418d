// Package qwen reads and writes the transcripts of Qwen Code, JSON lines of a record each. SPEC.md
// beside this code says how they become domarkx sessions and back.
package qwen

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/claudecode"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/gemini"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "qwen"

// Codec returns the codec for transcripts of Qwen Code.
func Codec() format.Codec {
	return transcript.Codec(&transcript.Agent{Name: Name, Program: "Qwen Code", Is: is, Note: note, Say: say, Write: write, Path: path,
		Skips: []string{"args", "response", "toolCallResult", "inlineData", "usageMetadata", "uiEvent", "snapshot"}})
}

func is(v jsonvalue.Value) bool {
	return transcript.Has(v, "sessionId", "uuid", "parentUuid") && (transcript.Has(transcript.Get(v, "message"), "parts") || transcript.Has(v, "provenance"))
}

// note extracts from a record what the index needs.
func note(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	kind := transcript.Text(v, "type")
	if transcript.Get(v, "isSidechain").IsTrue() {
		return transcript.Note{}
	}
	s.ID = cmp.Or(transcript.Text(v, "sessionId"), s.ID)
	n := transcript.Note{Once: transcript.Text(v, "uuid"), Time: transcript.Text(v, "timestamp")}
	parts := transcript.Get(v, "message", "parts").Items()
	switch kind {
	case "system":
		if transcript.Text(v, "subtype") == "custom_title" {
			s.Named(cmp.Or(transcript.Text(v, "systemPayload", "customTitle"), transcript.Text(v, "systemPayload", "title")), 1)
		}
		return transcript.Note{}
	case "user":
		if n.Text = transcript.JoinTexts(parts, typed); n.Text != "" || slices.ContainsFunc(parts, isImage) {
			n.Kind, n.After = transcript.Prompt, transcript.Text(v, "parentUuid")
		}
	case "assistant":
		n.Kind, n.Group = transcript.Answer, "r "+transcript.Text(v, "uuid")
	}
	if kind == "assistant" {
		n.Calls = transcript.Texts(parts, "functionCall", "id")
	} else {
		n.Results = transcript.Texts(parts, "functionResponse", "id")
	}
	if n.Kind != transcript.Other {
		s.In(transcript.Text(v, "cwd"), transcript.Text(v, "gitBranch"))
	}
	return n
}

// typed returns the text of a part that the user typed; "" for one that is blank or that the program added.
func typed(part jsonvalue.Value) string {
	text := transcript.Text(part, "text")
	if trimmed := strings.TrimSpace(text); trimmed == "" || strings.HasPrefix(trimmed, "<system-reminder>") && strings.HasSuffix(trimmed, "</system-reminder>") {
		return ""
	}
	return text
}

func isImage(part jsonvalue.Value) bool { return transcript.Has(part, "inlineData") }

// say adds the content of a record to a message.
func say(v jsonvalue.Value, m *transcript.Message) {
	m.Said(transcript.Text(v, "uuid"), transcript.Text(v, "timestamp"))
	m.Cwd, m.Branch = cmp.Or(m.Cwd, transcript.Text(v, "cwd")), cmp.Or(m.Branch, transcript.Text(v, "gitBranch"))
	if transcript.Text(v, "type") == "assistant" {
		m.Model = cmp.Or(transcript.Text(v, "model"), m.Model)
		if u := transcript.Get(v, "usageMetadata"); u.Kind() == jsonvalue.Object {
			cached, thoughts := transcript.Int(u, "cachedContentTokenCount"), transcript.Int(u, "thoughtsTokenCount")
			m.Usage = &transcript.Usage{Input: max(0, transcript.Int(u, "promptTokenCount")-cached), CacheRead: cached,
				Output: transcript.Int(u, "candidatesTokenCount"), Reasoning: thoughts}
		}
	}
	for _, part := range transcript.Get(v, "message", "parts").Items() {
		text := transcript.Text(part, "text")
		call := transcript.Get(part, "functionCall")
		switch {
		case transcript.Has(part, "functionResponse"):
			if m.Role == domarkx.Assistant {
				m.Result(gemini.ResponseResult(transcript.Get(part, "functionResponse")))
			}
		case transcript.Text(v, "type") != "assistant" && m.Role == domarkx.Assistant:
		case call.Kind() == jsonvalue.Object && m.Role == domarkx.Assistant:
			m.Call(transcript.Call{ID: transcript.Text(call, "id"), Tool: transcript.Text(call, "name"), Arguments: transcript.Get(call, "args")})
		case transcript.Get(part, "thought").IsTrue() && m.Role == domarkx.Assistant:
			m.Thought(text)
		case isImage(part):
			m.Image(gemini.InlineImage(part))
		case m.Role == domarkx.Assistant:
			m.Text(text)
		default:
			m.Text(typed(part))
		}
	}
}

// write writes the minimal transcript that Qwen Code can resume: records of the user, the assistant
// and results, linked in a chain.
func write(w *transcript.Writer) error {
	last := jsonvalue.Value{}
	for t := range w.Turns() {
		n := 0
		line := func(kind, role string, parts []jsonvalue.Value, more ...any) {
			id := t.ID
			if n++; n > 1 {
				id = w.UUID("record", t.ID, strconv.Itoa(n))
			}
			w.Line(transcript.Object(append([]any{"uuid", id, "parentUuid", last, "sessionId", w.Session.ID, "timestamp", t.Time.Format(format.ISOTime), "type", kind,
				"cwd", w.Session.Cwd, "version", "0.24.4", "message", transcript.Object("role", role, "parts", transcript.List(parts...))}, more...)...))
			last = transcript.Str(id)
		}
		if t.Role == domarkx.User {
			line("user", "user", gemini.TextParts(t))
			continue
		}
		steps := transcript.Steps(t.Parts)
		for i, step := range steps {
			var parts, results []jsonvalue.Value
			for _, p := range step {
				if p.Call == nil {
					parts = append(parts, transcript.Object("text", p.Text))
					continue
				}
				if len(p.Result.Images) > 0 {
					w.LoseCall("images in the result of a call")
				}
				parts = append(parts, transcript.Object("functionCall", transcript.Object("id", p.Call.ID, "name", p.Call.Tool, "args", p.Call.Arguments)))
				results = append(results, gemini.Response(p))
			}
			line("assistant", "model", parts, "model", jsonvalue.Maybe(w.Model), "usageMetadata", usage(t, i == len(steps)-1))
			for _, result := range results {
				line("tool_result", "user", []jsonvalue.Value{result})
			}
		}
	}
	return nil
}

func usage(t transcript.Turn, last bool) any {
	u := t.Usage
	if u == nil || !last {
		return nil
	}
	return transcript.Object("promptTokenCount", u.Input+u.CacheRead+u.CacheWrite, "candidatesTokenCount", u.Output, "thoughtsTokenCount", u.Reasoning,
		"totalTokenCount", u.Input+u.CacheRead+u.CacheWrite+u.Output, "cachedContentTokenCount", u.CacheRead)
}

// path returns where Qwen Code keeps a transcript: in a directory named after the working directory.
func path(s transcript.Session) string {
	return claudecode.DirectoryName(s.Cwd) + "/chats/" + format.FileName(s.ID)
}
