package codex

import (
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// version is the version of Codex whose records are written: the last one that shows texts from
// event_msg records.
const version = "0.140.0"

// write writes the minimal transcript that Codex can resume, list and show. Its model receives the
// response_items; its screen and its lists show the events user_message and agent_message.
func write(w *transcript.Writer) error {
	o := writing{Writer: w}
	o.line(w.Session.Created, typeMeta, transcript.Object("id", w.Session.ID, "timestamp", w.Session.Created, "cwd", w.Session.Cwd,
		"originator", "codex_cli_rs", "cli_version", version, "source", "cli"))
	if w.Session.Title != "" {
		o.line(w.Session.Created, typeEvent, transcript.Object("type", "thread_name_updated", "thread_id", w.Session.ID, "thread_name", w.Session.Title))
	}
	model := ""
	for t := range w.Turns() {
		at := t.Time.Format(format.ISOTime)
		if t.Role == domarkx.User {
			o.prompt(t, at)
			continue
		}
		if w.Model != model {
			model = w.Model
			o.line(at, typeContext, transcript.Object("cwd", w.Session.Cwd, "approval_policy", "on-request",
				"sandbox_policy", transcript.Object("type", "read-only"), "model", model, "summary", "auto"))
		}
		o.answer(t, at)
	}
	return nil
}

type writing struct {
	*transcript.Writer
	total transcript.Usage
}

func (o *writing) line(at, kind string, payload jsonvalue.Value) {
	o.Line(transcript.Object("timestamp", at, "type", kind, "payload", payload))
}

func message(role, kind string, items ...jsonvalue.Value) jsonvalue.Value {
	for i, item := range items {
		if item.Kind() == jsonvalue.String {
			items[i] = transcript.Object("type", kind, "text", item)
		}
	}
	return transcript.Object("type", "message", "role", role, "content", transcript.List(items...))
}

func (o *writing) prompt(t transcript.Turn, at string) {
	items := t.Items(transcript.Str, image)
	said := transcript.JoinTexts(items, func(item jsonvalue.Value) string { return item.Text() })
	o.line(at, typeItem, message("user", "input_text", items...))
	o.line(at, typeEvent, transcript.Object("type", "user_message", "message", said, "kind", "plain"))
}

func image(i mdtext.Image) jsonvalue.Value {
	return transcript.Object("type", "input_image", "image_url", i.URL())
}

func (o *writing) answer(t transcript.Turn, at string) {
	for _, step := range transcript.Steps(t.Parts) {
		for _, p := range step {
			if p.Call == nil {
				o.line(at, typeItem, message("assistant", "output_text", transcript.Str(p.Text)))
				o.line(at, typeEvent, transcript.Object("type", "agent_message", "message", p.Text))
				continue
			}
			o.line(at, typeItem, transcript.Object("type", "function_call", "name", functionName(p.Call.Tool), "arguments", p.Call.Arguments.JSON(), "call_id", p.Call.ID))
		}
		for _, p := range step {
			if p.Call == nil {
				continue
			}
			if p.Result.Failed && !hasFailed(p.Result.Said()) {
				o.LoseCall("that the result of a call is a failure")
			}
			o.line(at, typeItem, transcript.Object("type", "function_call_output", "call_id", p.Call.ID, "output", output(p.Result)))
		}
	}
	if u := t.Usage; u != nil {
		o.total.Input += u.Input
		o.total.CacheRead += u.CacheRead
		o.total.CacheWrite += u.CacheWrite
		o.total.Output += u.Output
		o.total.Reasoning += u.Reasoning
		o.line(at, typeEvent, transcript.Object("type", "token_count", "info",
			transcript.Object("total_token_usage", tokens(o.total), "last_token_usage", tokens(*u)), "rate_limits", jsonvalue.Value{}))
	}
}

func tokens(u transcript.Usage) jsonvalue.Value {
	input := u.Input + u.CacheRead + u.CacheWrite
	return transcript.Object("input_tokens", input, "cached_input_tokens", u.CacheRead, "cache_write_input_tokens", u.CacheWrite, "output_tokens", u.Output,
		"reasoning_output_tokens", u.Reasoning, "total_tokens", input+u.Output)
}

// functionName returns a tool's name in the characters that the model's provider accepts.
func functionName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	return s[:min(len(s), 64)]
}

func output(r *transcript.Result) jsonvalue.Value {
	said := r.Said()
	if len(r.Images) == 0 {
		return transcript.Str(said)
	}
	items := []jsonvalue.Value{transcript.Object("type", "input_text", "text", said)}
	for _, i := range r.Images {
		items = append(items, image(i))
	}
	return transcript.List(items...)
}

// path returns where Codex keeps a transcript: in a directory per day.
func path(s transcript.Session) string {
	t, ok := format.ParseTime(s.Created)
	if !ok {
		return "rollout-" + format.FileName(s.ID)
	}
	t = t.UTC()
	return t.Format("2006/01/02/") + "rollout-" + t.Format("2006-01-02T15-04-05-") + format.FileName(s.ID)
}
