// Package opencode reads and writes the documents of "opencode export": a JSON object with a
// session and its messages. SPEC.md beside this code says how one becomes a domarkx session and
// back.
package opencode

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// Name is what users call the format.
const Name = "opencode"

// Codec returns the codec for exports of OpenCode.
func Codec() format.Codec {
	return transcript.Codec(&transcript.Agent{Name: Name, Program: "OpenCode", Is: is, Array: "messages", Note: note, Say: say, Write: write,
		Skips: []string{"input", "output", "metadata", "snapshot", "url", "summary", "permission", "diffs"}})
}

func is(v jsonvalue.Value) bool {
	info := transcript.Get(v, "info")
	return transcript.Has(info, "id", "directory") || transcript.Has(info, "id", "projectID") && strings.HasPrefix(transcript.Text(info, "id"), "ses_")
}

// note classifies a record, which is the session or one of its messages.
func note(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	info := transcript.Get(v, "info")
	if transcript.Text(info, "role") == "" {
		s.ID, s.Parent = transcript.Text(info, "id"), transcript.Text(info, "parentID")
		if title := transcript.Text(info, "title"); !strings.HasPrefix(title, "New session - ") && !strings.HasPrefix(title, "Child session - ") {
			s.Named(title, 1)
		}
		s.In(transcript.Text(info, "directory"), "")
		s.Context = transcript.Text(info, "directory")
		return transcript.Note{}
	}
	n := transcript.Note{Time: format.MillisTime(transcript.Int(info, "time", "created")), Alone: true}
	switch transcript.Text(info, "role") {
	case "user":
		if n.Text = transcript.JoinTexts(transcript.Get(v, "parts").Items(), shown); n.Text != "" {
			n.Kind = transcript.Prompt
		}
	case "assistant":
		n.Kind = transcript.Answer
	}
	return n
}

// shown returns the text of a part of a user's message; "" for a part that the program added.
func shown(part jsonvalue.Value) string {
	if transcript.Get(part, "synthetic").IsTrue() || transcript.Get(part, "ignored").IsTrue() {
		return ""
	}
	switch transcript.Text(part, "type") {
	case "text":
		return transcript.Text(part, "text")
	case "subtask":
		return transcript.Text(part, "prompt")
	case "file":
		return "[file: " + cmp.Or(transcript.Text(part, "filename"), transcript.Text(part, "mime")) + "]"
	}
	return ""
}

// say adds the content of a record to a message.
func say(v jsonvalue.Value, m *transcript.Message) {
	info := transcript.Get(v, "info")
	m.Said(transcript.Text(info, "id"), format.MillisTime(transcript.Int(info, "time", "created")))
	m.Cwd = cmp.Or(transcript.Text(info, "path", "cwd"), m.Context)
	for _, part := range transcript.Get(v, "parts").Items() {
		kind := transcript.Text(part, "type")
		switch {
		case m.Role == domarkx.User && kind == "file":
			image, ok := mdtext.DataImage(transcript.Text(part, "url"))
			if text := shown(part); text != "" && (!ok || !m.Image(image)) {
				m.Text(text)
			}
		case m.Role == domarkx.User:
			m.Text(shown(part))
		case kind == "text":
			m.Text(transcript.Text(part, "text"))
		case kind == "reasoning":
			m.Thought(transcript.Text(part, "text"))
		case kind == "tool":
			sayTool(part, m)
		}
	}
	if m.Role == domarkx.User {
		return
	}
	m.Model, m.Stop = transcript.Text(info, "modelID"), transcript.Text(info, "finish")
	if u := transcript.Get(info, "tokens"); u.Kind() == jsonvalue.Object {
		usage := transcript.Usage{Input: transcript.Int(u, "input"), CacheRead: transcript.Int(u, "cache", "read"), CacheWrite: transcript.Int(u, "cache", "write"),
			Output: transcript.Int(u, "output"), Reasoning: transcript.Int(u, "reasoning")}
		if transcript.Int(u, "total") == usage.Input+usage.CacheRead+usage.CacheWrite+usage.Output+usage.Reasoning {
			usage.Output += usage.Reasoning // here, output does not include reasoning
		}
		m.Usage = &usage
	}
	m.Cost(transcript.Get(info, "cost"))
	if name := transcript.Text(info, "error", "name"); name != "" {
		m.Add("error", transcript.Str(name))
	}
}

func sayTool(part jsonvalue.Value, m *transcript.Message) {
	id, state := transcript.Text(part, "callID"), transcript.Get(part, "state")
	m.Call(transcript.Call{ID: id, Tool: transcript.Text(part, "tool"), Arguments: transcript.Get(state, "input")})
	r := transcript.Result{ID: id}
	switch transcript.Text(state, "status") {
	case "completed":
		r.Value = transcript.Str(transcript.Text(state, "output"))
		for _, file := range transcript.Get(state, "attachments").Items() {
			if image, ok := mdtext.DataImage(transcript.Text(file, "url")); ok {
				r.Images = append(r.Images, image)
			}
		}
	case "error":
		r.Failed, r.Value = true, transcript.Str(transcript.Text(state, "error"))
	default:
		return
	}
	m.Result(r)
}

// NoProvider is the provider of messages that are not from OpenCode, and their model if that is
// unknown.
const NoProvider = "unknown"

// version is the version of OpenCode that exports name as their origin.
const version = "1.18.33"

// write writes a document for "opencode import".
func write(w *transcript.Writer) error {
	o := writing{Writer: w, session: w.Session.ID}
	if !strings.HasPrefix(o.session, "ses_") {
		if uuid.Validate(o.session) != nil {
			o.session = w.UUID("session")
		}
		o.session = SessionID(o.session)
	}
	created := millis(w.Session.Created)
	title := cmp.Or(w.Session.Title, "Imported session")
	info := transcript.Object("id", o.session, "slug", cmp.Or(transcript.Slug(title), "session"), "projectID", "global", "directory", w.Session.Cwd, "title", title,
		"version", version, "time", transcript.Object("created", created, "updated", created))
	o.Raw("{\n  \"info\": " + info.JSON() + ",\n  \"messages\": [")
	separator := "\n    "
	for t := range w.Turns() {
		o.Raw(separator + o.message(t).JSON())
		separator = ",\n    "
	}
	o.Raw("\n  ]\n}\n")
	return nil
}

// SessionID returns the id of OpenCode's session for a UUID.
func SessionID(uuid string) string { return "ses_" + strings.ReplaceAll(uuid, "-", "")[:26] }

type writing struct {
	*transcript.Writer
	session string
	asked   string // id of the user's last message
	count   int64
}

func millis(at string) int64 {
	t, _ := format.ParseTime(at)
	return t.UnixMilli()
}

// id returns the next id of a kind. OpenCode sorts by ids, and no two sessions may have the same
// one.
func (o *writing) id(kind string, at int64) string {
	o.count++
	tail := strings.ReplaceAll(o.UUID(kind, o.session, fmt.Sprint(o.count)), "-", "")
	return fmt.Sprintf("%s_%012x%s", kind, (at*4096+o.count)&(1<<48-1), tail[len(tail)-14:])
}

func (o *writing) message(t transcript.Turn) jsonvalue.Value {
	at := t.Time.UnixMilli()
	id := o.id("msg", at)
	part := func(kind string, more ...any) jsonvalue.Value {
		return transcript.Object(append([]any{"id", o.id("prt", at), "sessionID", o.session, "messageID", id, "type", kind}, more...)...)
	}
	var parts []jsonvalue.Value
	next := transcript.Object("providerID", NoProvider, "modelID", cmp.Or(o.Model, NoProvider))
	if provider, model, ok := strings.Cut(o.Next, "/"); ok { // OpenCode asks the model that the last prompt names
		next = transcript.Object("providerID", provider, "modelID", model)
	}
	if t.Role == domarkx.User {
		parts = t.Items(func(s string) jsonvalue.Value { return part("text", "text", s) }, func(i mdtext.Image) jsonvalue.Value {
			return part("file", "mime", i.Type, "filename", "image", "url", i.URL())
		})
		o.asked = id
		info := transcript.Object("id", id, "sessionID", o.session, "role", "user", "time", transcript.Object("created", at), "agent", "build", "model", next)
		return transcript.Object("info", info, "parts", transcript.List(parts...))
	}
	for _, p := range t.Parts {
		if p.Call == nil {
			parts = append(parts, part("text", "text", p.Text))
			continue
		}
		if len(p.Result.Images) > 0 {
			o.LoseCall("images in the result of a call")
		}
		span := transcript.Object("start", at, "end", at)
		state := transcript.Object("status", "completed", "input", p.Call.Arguments, "output", p.Result.Said(), "title", p.Call.Tool, "metadata", transcript.Object(), "time", span)
		if p.Result.Failed {
			state = transcript.Object("status", "error", "input", p.Call.Arguments, "error", p.Result.Said(), "time", span)
		}
		parts = append(parts, part("tool", "callID", p.Call.ID, "tool", p.Call.Tool, "state", state))
	}
	u := transcript.Usage{}
	if t.Usage != nil {
		u = *t.Usage
	}
	tokens := transcript.Object("input", u.Input, "output", u.Output, "reasoning", u.Reasoning, "cache", transcript.Object("read", u.CacheRead, "write", u.CacheWrite))
	info := transcript.Object("id", id, "sessionID", o.session, "role", "assistant", "parentID", o.asked, "time", transcript.Object("created", at, "completed", at),
		"modelID", cmp.Or(t.Model, o.Model, NoProvider), "providerID", NoProvider, "mode", "build", "agent", "build",
		"path", transcript.Object("cwd", o.Session.Cwd, "root", o.Session.Cwd), "cost", int64(0), "tokens", tokens, "finish", "stop")
	return transcript.Object("info", info, "parts", transcript.List(parts...))
}

// A StoredSession is a session in OpenCode's database.
type StoredSession struct {
	ID        string
	Directory string // the directory in which the session began
	// Stamp differs whenever the session has changed; "" if unknown.
	Stamp string
}

// ErrChanged means that another program changed the database in a way that made reading it
// impossible. The read can be repeated.
var ErrChanged = fmt.Errorf("%w: the database changed while it was read; import it again", domarkx.ErrInvalid)
