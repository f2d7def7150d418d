// Package gemini reads and writes the transcripts of Gemini CLI: JSON lines in which a message may be
// written several times, and the single JSON object of versions before 0.39. SPEC.md beside this code
// says how they become domarkx sessions and back.
package gemini

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "gemini"

// Codec returns the codec for transcripts of Gemini CLI.
func Codec() format.Codec {
	return transcript.Codec(&transcript.Agent{Name: Name, Program: "Gemini CLI", Is: is, Array: "messages", Note: note, Say: say, Write: write, Path: path,
		Skips: []string{"args", "result", "resultDisplay", "response", "thoughts", "inlineData", "memoryScratchpad", "tokens"}})
}

func is(v jsonvalue.Value) bool { return transcript.Has(v, "sessionId", "projectHash") }

// note extracts from a record what the index needs.
func note(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	id, kind := transcript.Text(v, "id"), transcript.Text(v, "type")
	set := transcript.Get(v, "$set")
	switch {
	case set.Kind() == jsonvalue.Object:
		return header(set, s)
	case transcript.Has(v, "$rewindTo"):
		return transcript.Note{Link: transcript.Link{BackTo: "m " + transcript.Text(v, "$rewindTo")}}
	case transcript.Has(v, "sessionId"):
		s.ID = transcript.Text(v, "sessionId")
		return header(v, s)
	}
	n := transcript.Note{Time: transcript.Text(v, "timestamp"), Alone: true}
	if id != "" {
		n.Group, n.Latest = "m "+id, true
	}
	content := transcript.Get(v, "content")
	switch kind {
	case "user":
		n.Results = transcript.Texts(parts(content), "functionResponse", "id")
		if directory := directoryIn(content); directory != "" {
			s.In(directory, "")
			s.Context = directory
		}
		said := typed(v)
		if n.Text = promptText(said); n.Text != "" || slices.ContainsFunc(parts(said), isImage) {
			n.Kind = transcript.Prompt
		}
	case "gemini":
		n.Kind, n.Calls = transcript.Answer, transcript.Texts(calls(v), "id")
	}
	return n
}

// header records the metadata of a session, and returns the messages in it.
func header(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	s.Named(transcript.Text(v, "summary"), 1)
	if messages := transcript.Get(v, "messages"); messages.Kind() == jsonvalue.Array {
		return transcript.Note{Inner: transcript.Inner{Clear: true, Items: messages.Items()}}
	}
	return transcript.Note{}
}

// typed returns the text that the user typed, if it differs from the text that the model received.
func typed(v jsonvalue.Value) jsonvalue.Value {
	if content := transcript.Get(v, "displayContent"); promptText(content) != "" {
		return content
	}
	return transcript.Get(v, "content")
}

// calls returns the calls of an answer. When the program goes on with a session, it may write earlier
// answers again with their calls in the content alone.
func calls(v jsonvalue.Value) []jsonvalue.Value {
	all := transcript.Get(v, "toolCalls").Items()
	if len(all) > 0 {
		return all
	}
	for _, part := range parts(transcript.Get(v, "content")) {
		if transcript.Has(part, "functionCall") {
			all = append(all, transcript.Get(part, "functionCall"))
		}
	}
	return all
}

// parts returns the parts of a content. The content may be a text, a part, or a list of both.
func parts(content jsonvalue.Value) []jsonvalue.Value {
	var all []jsonvalue.Value
	items := []jsonvalue.Value{content}
	if content.Kind() == jsonvalue.Array {
		items = content.Items()
	}
	for _, item := range items {
		if item.Kind() == jsonvalue.String {
			item = transcript.Object("text", item)
		}
		if item.Kind() == jsonvalue.Object {
			all = append(all, item)
		}
	}
	return all
}

// promptText returns the text that the user typed in a content.
func promptText(content jsonvalue.Value) string {
	return transcript.JoinTexts(parts(content), typedIn)
}

// typedIn returns the text of a part; "" for one that is blank or that the program added.
func typedIn(part jsonvalue.Value) string {
	if text := transcript.Text(part, "text"); strings.TrimSpace(text) != "" && !isAdded(text) {
		return text
	}
	return ""
}

func isAdded(text string) bool {
	text = strings.TrimSpace(text)
	for _, name := range []string{"session_context", "system-reminder", "state_snapshot", "hook_context"} {
		if strings.HasPrefix(text, "<"+name+">") && strings.HasSuffix(text, "</"+name+">") {
			return true
		}
	}
	return strings.HasPrefix(text, "This is the Gemini CLI. We are setting up the context for our chat.")
}

// workDirs is the line before the working directories that the program states.
const workDirs = "- **Workspace Directories:**\n"

// directoryIn returns the working directory that the program states in its first message to the model.
func directoryIn(content jsonvalue.Value) string {
	for _, part := range parts(content) {
		text := transcript.Text(part, "text")
		if !isAdded(text) {
			continue
		}
		if _, rest, ok := strings.Cut(text, workDirs); ok {
			line, _, _ := strings.Cut(rest, "\n")
			if directory, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok {
				return strings.TrimSpace(directory)
			}
		}
	}
	return ""
}

func isImage(part jsonvalue.Value) bool { return transcript.Has(part, "inlineData") }

// say adds the content of a record to a message.
func say(v jsonvalue.Value, m *transcript.Message) {
	m.Cwd = m.Context
	m.Said(transcript.Text(v, "id"), transcript.Text(v, "timestamp"))
	if transcript.Text(v, "type") == "user" && m.Role == domarkx.Assistant {
		for _, part := range parts(transcript.Get(v, "content")) {
			if transcript.Has(part, "functionResponse") {
				m.Result(ResponseResult(transcript.Get(part, "functionResponse")))
			}
		}
		return
	}
	content := transcript.Get(v, "content")
	if m.Role == domarkx.User {
		for _, part := range parts(typed(v)) {
			m.Text(typedIn(part))
			if isImage(part) {
				m.Image(InlineImage(part))
			}
		}
		return
	}
	m.Model = transcript.Text(v, "model")
	if u := transcript.Get(v, "tokens"); u.Kind() == jsonvalue.Object {
		m.Usage = usageOf(u, "input", "cached", "output", "thoughts")
	}
	thoughts := transcript.Get(v, "thoughts").Items()
	for _, thought := range thoughts {
		subject := transcript.Text(thought, "subject")
		if subject != "" {
			subject = "**" + subject + "**\n\n"
		}
		m.Thought(subject + transcript.Text(thought, "description"))
	}
	for _, part := range parts(content) {
		switch text := transcript.Text(part, "text"); {
		case !transcript.Get(part, "thought").IsTrue():
			m.Text(text)
		case len(thoughts) == 0: // otherwise it repeats one of them
			m.Thought(text)
		}
	}
	for _, call := range calls(v) {
		sayCall(call, m)
	}
}

// usageOf returns the usage of a response. In the record, the input tokens include the cached ones,
// and the output tokens exclude the thoughts.
func usageOf(u jsonvalue.Value, input, cached, output, thoughts string) *transcript.Usage {
	read, reasoning := transcript.Int(u, cached), transcript.Int(u, thoughts)
	return &transcript.Usage{Input: max(0, transcript.Int(u, input)-read), CacheRead: read, Output: transcript.Int(u, output) + reasoning, Reasoning: reasoning}
}

func sayCall(call jsonvalue.Value, m *transcript.Message) {
	id := transcript.Text(call, "id")
	m.Call(transcript.Call{ID: id, Tool: transcript.Text(call, "name"), Arguments: transcript.Get(call, "args")})
	for _, part := range transcript.Get(call, "result").Items() {
		if transcript.Has(part, "functionResponse") {
			r := ResponseResult(transcript.Get(part, "functionResponse"))
			r.ID = id
			if status := transcript.Text(call, "status"); status == "error" || status == "cancelled" {
				r.Failed = true
			}
			m.Result(r)
			return
		}
	}
}

// write writes the minimal transcript that Gemini CLI can resume: the session's metadata and its
// messages. The working directory is where the program states it, which replaces this with its own:
// so the messages stay the same ones when it goes on with them.
func write(w *transcript.Writer) error {
	hash := sha256.Sum256([]byte(w.Session.Cwd))
	w.Line(transcript.Object("sessionId", w.Session.ID, "projectHash", hex.EncodeToString(hash[:]), "startTime", w.Session.Created,
		"lastUpdated", w.Session.Created, "kind", "main"))
	if w.Session.Title != "" {
		w.Line(transcript.Object("$set", transcript.Object("summary", w.Session.Title)))
	}
	if dir := w.Session.Cwd; dir != "/" && !strings.Contains(dir, "\n") {
		context := "<session_context>\n" + workDirs + "  - " + dir + "\n</session_context>"
		w.Line(transcript.Object("id", w.UUID("context"), "timestamp", w.Session.Created, "type", "user",
			"content", transcript.List(transcript.Object("text", context))))
	}
	for t := range w.Turns() {
		at := t.Time.Format(format.ISOTime)
		if t.Role == domarkx.User {
			w.Line(transcript.Object("id", t.ID, "timestamp", at, "type", "user", "content", transcript.List(TextParts(t)...)))
			continue
		}
		steps := transcript.Steps(t.Parts)
		for i, step := range steps {
			id := t.ID
			if i > 0 {
				id = w.UUID("step", t.ID, string(rune('a'+i)))
			}
			w.Line(answer(w, t, id, at, step, i == len(steps)-1))
		}
	}
	return nil
}

func answer(w *transcript.Writer, t transcript.Turn, id, at string, step []transcript.Part, last bool) jsonvalue.Value {
	var texts []string
	var calls []jsonvalue.Value
	for _, p := range step {
		if p.Call == nil {
			texts = append(texts, p.Text)
			continue
		}
		status := "success"
		if p.Result.Failed {
			status = "error"
		}
		if len(p.Result.Images) > 0 {
			w.LoseCall("images in the result of a call")
		}
		calls = append(calls, transcript.Object("id", p.Call.ID, "name", p.Call.Tool, "args", p.Call.Arguments, "result", transcript.List(Response(p)),
			"status", status, "timestamp", at))
	}
	var tokens, all any
	if u := t.Usage; u != nil && last {
		tokens = transcript.Object("input", u.Input+u.CacheRead+u.CacheWrite, "output", u.Output-u.Reasoning, "cached", u.CacheRead,
			"thoughts", u.Reasoning, "tool", int64(0), "total", u.Input+u.CacheRead+u.CacheWrite+u.Output)
	}
	if len(calls) > 0 {
		all = transcript.List(calls...)
	}
	return transcript.Object("id", id, "timestamp", at, "type", "gemini", "content", strings.Join(texts, "\n\n"),
		"tokens", tokens, "model", jsonvalue.Maybe(w.Model), "toolCalls", all)
}

// path returns where Gemini CLI keeps a transcript. It leaves out the directory of the project, whose
// name only the program knows.
func path(s transcript.Session) string {
	minute, id := "1970-01-01T00-00", format.FileName(s.ID)
	if t, ok := format.ParseTime(s.Created); ok {
		minute = t.UTC().Format("2006-01-02T15-04")
	}
	return "chats/session-" + minute + "-" + id[:min(len(id), 8)]
}
