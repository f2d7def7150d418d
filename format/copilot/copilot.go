// Package copilot reads and writes the transcripts of GitHub Copilot CLI, JSON lines of an event
// each. SPEC.md beside this code says how they become domarkx sessions and back.
package copilot

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "copilot"

// Codec returns the codec for transcripts of Copilot CLI.
func Codec() format.Codec {
	return transcript.Codec(&transcript.Agent{Name: Name, Program: "Copilot CLI", Is: is, Note: note, Say: say, Write: write, Path: path,
		Skips: []string{"arguments", "result", "transformedContent", "toolTelemetry", "reasoningOpaque", "reasoningText", "modelMetrics", "input", "output"}})
}

func is(v jsonvalue.Value) bool {
	return transcript.Has(v, "type", "data") && (transcript.Text(v, "type") == "session.start" && transcript.Has(transcript.Get(v, "data"), "sessionId") ||
		transcript.Has(v, "id", "timestamp", "parentId") && strings.Contains(transcript.Text(v, "type"), "."))
}

// note extracts from an event what the index needs.
func note(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	data := transcript.Get(v, "data")
	n := transcript.Note{Time: transcript.Text(v, "timestamp"), Once: transcript.Text(v, "id")}
	if transcript.Text(data, "parentToolCallId") != "" { // the event belongs to a sub-agent
		return transcript.Note{}
	}
	switch transcript.Text(v, "type") {
	case "session.start":
		s.ID = cmp.Or(s.ID, transcript.Text(data, "sessionId"))
		where(data, s)
	case "session.resume":
		where(data, s)
	case "session.title_changed":
		s.Named(transcript.Text(data, "title"), 1)
	case "user.message":
		n.Kind, n.Text = transcript.Prompt, transcript.Text(data, "content")
	case "assistant.message":
		n.Kind, n.Alone = transcript.Answer, true
		if call := transcript.Text(data, "apiCallId"); call != "" {
			n.Group = "a " + call
		}
		n.Calls = transcript.Texts(transcript.Get(data, "toolRequests").Items(), "toolCallId")
	case "tool.execution_complete":
		n.Results = transcript.Texts([]jsonvalue.Value{data}, "toolCallId")
	case "session.usage_record":
		n.Kind, n.Once = transcript.About, ""
		if call := transcript.Text(data, "usage", "apiCallId"); call != "" {
			n.Group = "a " + call
		}
	case "abort":
		n.Kind = transcript.About
	}
	return n
}

// where records the working directory and branch of a session.
func where(data jsonvalue.Value, s *transcript.Session) {
	cwd, branch := transcript.Text(data, "context", "cwd"), transcript.Text(data, "context", "branch")
	s.In(cwd, branch)
	s.Context = cwd + "\x00" + branch
}

// say adds the content of an event to a message.
func say(v jsonvalue.Value, m *transcript.Message) {
	data, id, at := transcript.Get(v, "data"), transcript.Text(v, "id"), transcript.Text(v, "timestamp")
	m.Cwd, m.Branch, _ = strings.Cut(m.Context, "\x00")
	switch transcript.Text(v, "type") {
	case "user.message":
		m.Said(id, at)
		m.Text(transcript.Text(data, "content"))
		for _, a := range transcript.Get(data, "attachments").Items() {
			m.Image(mdtext.Image{Type: transcript.Text(a, "mimeType"), Data: transcript.Text(a, "data")})
		}
	case "assistant.message":
		m.Said(id, at)
		m.Model = cmp.Or(transcript.Text(data, "model"), m.Model)
		if tokens := transcript.Int(data, "outputTokens"); tokens > 0 && m.Usage == nil {
			m.Usage = &transcript.Usage{Output: tokens}
		}
		m.Thought(transcript.Text(data, "reasoningText"))
		m.Text(transcript.Text(data, "content"))
		for _, request := range transcript.Get(data, "toolRequests").Items() {
			m.Call(transcript.Call{ID: transcript.Text(request, "toolCallId"), Tool: transcript.Text(request, "name"),
				Arguments: transcript.Get(request, "arguments")})
		}
	case "tool.execution_complete":
		r := transcript.Result{ID: transcript.Text(data, "toolCallId"), Value: transcript.Str(transcript.Text(data, "result", "content"))}
		if r.Failed = transcript.Get(data, "success").Kind() == jsonvalue.Bool && !transcript.Get(data, "success").IsTrue(); r.Failed {
			r.Value = transcript.Str(cmp.Or(transcript.Text(data, "error", "message"), transcript.Text(data, "error"), r.Value.Text()))
		}
		m.Said(id, at)
		m.Result(r)
	case "session.usage_record":
		u := transcript.Get(data, "usage")
		read, written := transcript.Int(u, "cacheReadTokens"), transcript.Int(u, "cacheWriteTokens")
		m.Usage = &transcript.Usage{Input: max(0, transcript.Int(u, "inputTokens")-read-written), CacheRead: read, CacheWrite: written,
			Output: transcript.Int(u, "outputTokens"), Reasoning: transcript.Int(u, "reasoningTokens")}
		m.Model = cmp.Or(m.Model, transcript.Text(u, "model"))
	case "abort":
		m.Stop = "aborted"
	}
}

// version is the version of Copilot CLI whose events are written.
const version = "1.0.102"

// write writes the minimal transcript that Copilot CLI can resume.
func write(w *transcript.Writer) error {
	o := writing{Writer: w}
	o.seed = w.Session.ID
	context := transcript.Object("cwd", w.Session.Cwd)
	o.event(w.Session.Created, "session.start", transcript.Object("sessionId", w.Session.ID, "version", int64(1), "producer", "copilot-agent",
		"copilotVersion", version, "startTime", w.Session.Created, "context", context))
	if w.Session.Title != "" {
		o.event(w.Session.Created, "session.title_changed", transcript.Object("title", w.Session.Title))
	}
	turn := 0
	for t := range w.Turns() {
		o.seed, o.count = t.ID, 0
		at := t.Time.Format(format.ISOTime)
		if t.Role == domarkx.User {
			o.prompt(t, at)
			continue
		}
		for i, step := range transcript.Steps(t.Parts) {
			id := transcript.Object("turnId", strconv.Itoa(turn))
			o.event(at, "assistant.turn_start", id)
			o.answer(t, at, i, step)
			o.event(at, "assistant.turn_end", id)
			turn++
		}
	}
	return nil
}

type writing struct {
	*transcript.Writer
	seed  string
	count int
	last  jsonvalue.Value
}

func (o *writing) event(at, kind string, data jsonvalue.Value) {
	o.count++
	id := transcript.Str(o.UUID("event", o.seed, strconv.Itoa(o.count)))
	o.Line(transcript.Object("type", kind, "data", data, "id", id, "timestamp", at, "parentId", o.last))
	o.last = id
}

func (o *writing) prompt(t transcript.Turn, at string) {
	items := t.Items(transcript.Str, func(mdtext.Image) jsonvalue.Value {
		o.Lose(t, "images")
		return transcript.Str("")
	})
	said := transcript.JoinTexts(items, func(item jsonvalue.Value) string { return item.Text() })
	o.event(at, "user.message", transcript.Object("content", said))
}

func (o *writing) answer(t transcript.Turn, at string, step int, parts []transcript.Part) {
	var texts []string
	var requests []jsonvalue.Value
	for _, p := range parts {
		if p.Call == nil {
			texts = append(texts, p.Text)
			continue
		}
		requests = append(requests, transcript.Object("toolCallId", p.Call.ID, "name", p.Call.Tool, "arguments", p.Call.Arguments, "type", "function"))
	}
	var tokens any
	if t.Usage != nil && step == 0 {
		tokens = t.Usage.Output
	}
	data := transcript.Object("messageId", o.UUID("message", t.ID, strconv.Itoa(step)), "content", strings.Join(texts, "\n\n"),
		"toolRequests", transcript.List(requests...), "outputTokens", tokens, "model", jsonvalue.Maybe(o.Model))
	o.event(at, "assistant.message", data)
	for _, p := range parts {
		if p.Call == nil {
			continue
		}
		o.event(at, "tool.execution_start", transcript.Object("toolCallId", p.Call.ID, "toolName", p.Call.Tool, "arguments", p.Call.Arguments))
		result := transcript.Object("toolCallId", p.Call.ID, "success", !p.Result.Failed, "result", transcript.Object("content", p.Result.Said()))
		if p.Result.Failed {
			result = transcript.Object("toolCallId", p.Call.ID, "success", false, "error", transcript.Object("message", p.Result.Said()))
		}
		if len(p.Result.Images) > 0 {
			o.LoseCall("images in the result of a call")
		}
		o.event(at, "tool.execution_complete", result)
	}
}

// path returns where Copilot CLI keeps a transcript.
func path(s transcript.Session) string { return format.FileName(s.ID) + "/events" }
