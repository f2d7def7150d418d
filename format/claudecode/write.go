package claudecode

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

// write writes the minimal transcript that Claude Code can resume: the records of the user and the
// assistant, linked in a chain.
func write(w *transcript.Writer) error {
	o := writing{Writer: w}
	if w.Session.Title != "" {
		w.Line(transcript.Object("type", "custom-title", "customTitle", w.Session.Title, "sessionId", w.Session.ID))
	}
	for t := range w.Turns() {
		o.turn = t
		o.count = 0
		if t.Role == domarkx.User {
			o.prompt()
		} else {
			o.answer()
		}
	}
	return nil
}

type writing struct {
	*transcript.Writer
	turn  transcript.Turn
	count int    // the records of the current turn
	last  string // the uuid of the previous record
}

// line writes a record of the chain.
func (o *writing) line(kind string, message jsonvalue.Value) {
	id := o.turn.ID
	if o.count++; o.count > 1 {
		id = o.UUID("record", o.turn.ID, strconv.Itoa(o.count))
	}
	parent := jsonvalue.Value{}
	if o.last != "" {
		parent = transcript.Str(o.last)
	}
	o.last = id
	o.Line(transcript.Object("parentUuid", parent, "isSidechain", false, "userType", "external", "cwd", o.Session.Cwd, "sessionId", o.Session.ID,
		"type", kind, "message", message, "uuid", id, "timestamp", o.turn.Time.Format(format.ISOTime)))
}

func text(s string) jsonvalue.Value { return transcript.Object("type", "text", "text", s) }

func image(i mdtext.Image) jsonvalue.Value {
	return transcript.Object("type", "image", "source", transcript.Object("type", "base64", "media_type", i.Type, "data", i.Data))
}

func (o *writing) prompt() {
	items := o.turn.Items(text, image)
	content := transcript.List(items...)
	if len(items) == 1 && transcript.Text(items[0], "type") == "text" {
		content = transcript.Get(items[0], "text")
	} else if len(items) == 0 {
		content = transcript.Str("")
	}
	o.line(typeUser, transcript.Object("role", typeUser, "content", content))
}

// answer writes the assistant's records. After each record with calls, it writes one with their
// results.
func (o *writing) answer() {
	steps := transcript.Steps(o.turn.Parts)
	for i, step := range steps {
		var items, results []jsonvalue.Value
		for _, p := range step {
			if p.Call == nil {
				items = append(items, text(p.Text))
				continue
			}
			items = append(items, transcript.Object("type", "tool_use", "id", p.Call.ID, "name", p.Call.Tool, "input", p.Call.Arguments))
			results = append(results, result(p.Result))
		}
		stop := "end_turn"
		if len(results) > 0 {
			stop = "tool_use"
		}
		id := "msg_" + strings.ReplaceAll(o.turn.ID, "-", "")
		if i > 0 {
			id += "_" + strconv.Itoa(i)
		}
		message := transcript.Object("id", id, "type", "message", "role", typeAssistant, "model", cmp.Or(o.Model, "unknown"), "content", transcript.List(items...),
			"stop_reason", stop, "stop_sequence", jsonvalue.Value{}, "usage", o.usage(i == len(steps)-1))
		o.line(typeAssistant, message)
		if len(results) > 0 {
			o.line(typeUser, transcript.Object("role", typeUser, "content", transcript.List(results...)))
		}
	}
}

// usage returns the usage of a response. Only the last record of a message gets it.
func (o *writing) usage(last bool) jsonvalue.Value {
	u := transcript.Usage{}
	if last && o.turn.Usage != nil {
		u = *o.turn.Usage
	}
	return transcript.Object("input_tokens", u.Input, "cache_creation_input_tokens", u.CacheWrite, "cache_read_input_tokens", u.CacheRead, "output_tokens", u.Output)
}

func result(r *transcript.Result) jsonvalue.Value {
	content := transcript.Str(r.Said())
	if len(r.Images) > 0 {
		items := []jsonvalue.Value{}
		if r.Said() != "" {
			items = append(items, text(r.Said()))
		}
		for _, i := range r.Images {
			items = append(items, image(i))
		}
		content = transcript.List(items...)
	}
	return transcript.Object("type", "tool_result", "tool_use_id", r.ID, "content", content, "is_error", r.Failed)
}

// path returns where Claude Code keeps a transcript: in a directory named after the working directory.
func path(s transcript.Session) string {
	return DirectoryName(s.Cwd) + "/" + format.FileName(s.ID)
}

// DirectoryName returns the name of the directory in which Claude Code, and programs derived from it,
// keep the transcripts of a working directory.
func DirectoryName(cwd string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}, cwd)
}
