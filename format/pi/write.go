package pi

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// write writes a session as a transcript of version 3, without branches. Messages that are unchanged
// since the import keep their original entries, and the entries between those.
func write(h domarkx.Header, messages format.Messages, to format.Target) (func(io.Writer) error, error) {
	return format.Writing(to, func(out io.Writer, to format.Target) error {
		return withOriginal(messages, to, func(o *original) error {
			a := agent()
			a.Write = func(w *transcript.Writer) error { return newWriting(w, o).session() }
			if o != nil {
				return a.WriteTo(out, h, unmarked{messages}, true, to)
			}
			return a.WriteTo(out, h, messages, false, to)
		})
	})
}

// unmarked are messages without what their original says of them: which are summaries.
type unmarked struct{ format.Messages }

// At returns message k.
func (u unmarked) At(k int) (domarkx.WrittenMessage, error) {
	m, err := u.Messages.At(k)
	if err == nil && m.Metadata != nil {
		metadata := m.Metadata.Without(transcript.KeySummary)
		m.Metadata = &metadata
	}
	return m, err
}

// A writing is the state of writing a transcript.
type writing struct {
	*transcript.Writer
	*original // nil if there is none
	turn      transcript.Turn
	from      int // the entry on the way that was the turn; -1 for none
	same      bool
	next      int                           // the first entry on the way that was not passed
	kept      map[string]*transcript.Result // of messages that were written, by their calls; nil if unchanged
	used      map[string]bool               // ids of entries
	last      string                        // the id of the entry before
	name      string                        // that the entries give the session
	prompt    string                        // the first one
	model     []any                         // what the last answer says about its model
	failed    error
}

func newWriting(w *transcript.Writer, o *original) *writing {
	return &writing{Writer: w, original: o, used: map[string]bool{}, kept: map[string]*transcript.Result{}}
}

func (w *writing) session() error {
	w.Keep = w.keeps
	w.header()
	for w.turn = range w.Turns() {
		if w.from < 0 {
			w.fresh()
		} else {
			w.again()
		}
		if w.failed != nil {
			return w.failed
		}
	}
	title := w.Session.Title // that of a session without one begins its first prompt
	isNamed := func(prompt string) bool { return !strings.HasPrefix(prompt, strings.TrimSuffix(title, "…")) }
	if title != "" && title != w.name && isNamed(w.prompt) && (w.original == nil || isNamed(w.first)) {
		w.entry(transcript.Object("type", "session_info", "id", w.UUID("title"), "parentId", "", "timestamp", w.Session.Created, "name", title))
	}
	return nil
}

// header writes the first line.
func (w *writing) header() {
	s := w.Session
	line := transcript.Object("type", "session", "version", int64(version), "id", s.ID, "timestamp", s.Created)
	if w.original != nil {
		line = w.original.header.With("version", transcript.Num(version)).With("id", transcript.Str(s.ID))
		if was := transcript.Text(w.original.header, "timestamp"); was == "" || s.ID != transcript.Text(w.original.header, "id") {
			line = line.With("timestamp", transcript.Str(s.Created))
		}
	}
	line = line.With("cwd", transcript.Str(s.Cwd))
	if s.Parent != "" {
		line = line.With("parentSession", transcript.Str(s.Parent))
	}
	w.Line(line)
}

// keeps finds the original entry of a message, and reports whether the message is unchanged.
func (w *writing) keeps(t transcript.Turn, m domarkx.WrittenMessage) bool {
	w.from, w.same = -1, false
	if w.prompt == "" {
		w.prompt = promptOf(m.Message)
	}
	if w.original == nil {
		return false
	}
	id := transcript.Text(m.Meta(), "id")
	k, isHead := w.heads[id]
	from, ok := w.at[id]
	if !ok || !isHead || w.used[id] {
		return false
	}
	was, err := w.messages.At(k)
	if err != nil || was.Role != m.Role {
		w.failed = err
		return false
	}
	w.from, w.same = from, domarkx.Message{Content: was.Content}.Equal(domarkx.Message{Content: m.Content, Extra: m.Extra})
	for _, member := range m.Meta().Members() {
		if w.same && !transcript.Has(was.Meta(), member.Name) && member.Name != "runs" {
			w.Lose(t, "message_metadata.%s", member.Name)
		}
	}
	return w.same
}

// read returns an entry on the way, valid until the next one is read.
func (w *writing) read(i int) jsonvalue.Value {
	v, err := w.original.At(w.way[i].Place)
	if err != nil {
		w.failed = err
		return jsonvalue.ObjectValue()
	}
	if !transcript.Has(v, "id") {
		v = v.With("id", transcript.Str(w.way[i].id))
	}
	return v
}

// again writes a message that has an entry in the original.
func (w *writing) again() {
	if w.from >= w.next {
		w.others(w.from)
	}
	w.next = max(w.next, w.from+1)
	v := w.read(w.from)
	if w.same {
		w.entry(v)
	} else if v, ok := w.edited(v); ok {
		w.entry(v)
	} else {
		w.fresh()
		return
	}
	for _, p := range w.turn.Parts {
		if p.Call == nil || p.Result == nil {
			continue
		}
		if at, ok := w.results[p.Call.ID]; ok && at >= w.next {
			if w.kept[p.Call.ID] = p.Result; w.same {
				w.kept[p.Call.ID] = nil
			}
		} else if p.Result.Code != "no_result" {
			w.result(p.Call, p.Result)
		}
	}
	w.others(len(w.way))
}

// others writes what stands on the way before an entry, or before the next message if it is the end:
// results of calls that were written, and what is not part of a message.
func (w *writing) others(before int) {
	for ; w.next < before && w.failed == nil; w.next++ {
		l := w.way[w.next]
		if _, isHead := w.heads[l.id]; isHead {
			if before == len(w.way) {
				return
			}
			continue // a message that was removed
		}
		v := w.read(w.next)
		if l.call != "" {
			r, ok := w.kept[l.call]
			if !ok {
				continue
			}
			if delete(w.kept, l.call); r != nil {
				v = v.With("message", withResult(transcript.Get(v, "message"), r))
			}
		}
		w.entry(v)
	}
}

// withResult returns a toolResult message with a result.
func withResult(message jsonvalue.Value, r *transcript.Result) jsonvalue.Value {
	if was := resultOf(message); was.Said() == r.Said() && was.Failed == r.Failed && slices.Equal(was.Images, r.Images) {
		return message
	}
	return message.With("content", resultItems(r)).With("isError", jsonvalue.BoolValue(r.Failed))
}

func resultItems(r *transcript.Result) jsonvalue.Value {
	items := []jsonvalue.Value{textItem(r.Said())}
	for _, i := range r.Images {
		items = append(items, imageItem(i))
	}
	return transcript.List(items...)
}

func textItem(s string) jsonvalue.Value { return transcript.Object("type", "text", "text", s) }

func imageItem(i mdtext.Image) jsonvalue.Value {
	return transcript.Object("type", "image", "data", i.Data, "mimeType", i.Type)
}

// edited returns an entry updated to the present text of its message; false if the entry cannot
// represent that text.
func (w *writing) edited(v jsonvalue.Value) (jsonvalue.Value, bool) {
	e := entryOf(v)
	switch e.kind {
	case prompt:
		e.body = e.body.With(e.member, w.said(e.content().Kind()))
	case shell:
		command, output, ok := shellOf(w.turn.Parts)
		if !ok {
			w.Lose(w.turn, "that it was a shell execution")
			return v, false
		}
		e.body = e.body.With("command", transcript.Str(command)).With("output", transcript.Str(output))
	case answer:
		e.body = e.body.With("content", items(w.turn.Parts))
		w.of(e.body)
	default:
		return v, false
	}
	if transcript.Text(v, "type") == "message" {
		return v.With("message", e.body), true
	}
	return e.body, true
}

// shellOf returns the command and the output that a message shows.
func shellOf(parts []transcript.Part) (command, output string, ok bool) {
	if len(parts) != 1 {
		return "", "", false
	}
	blocks, _ := mdtext.Split(parts[0].Text)
	if len(blocks) != 2 || !transcript.IsCode(blocks[0], "bash") || !transcript.IsCode(blocks[1], "text") {
		return "", "", false
	}
	return blocks[0].Text, blocks[1].Text, true
}

// said returns the content of a prompt, as text if it was text.
func (w *writing) said(was jsonvalue.Kind) jsonvalue.Value {
	if was == jsonvalue.Array || len(w.turn.Parts) != 1 {
		return items(w.turn.Parts)
	}
	return transcript.Str(w.turn.Parts[0].Text)
}

// items returns the content of a message.
func items(parts []transcript.Part) jsonvalue.Value {
	items := []jsonvalue.Value{}
	for _, p := range parts {
		if c := p.Call; c != nil {
			items = append(items, transcript.Object("type", "toolCall", "id", c.ID, "name", c.Tool, "arguments", c.Arguments))
			continue
		}
		for _, piece := range mdtext.Pieces(p.Text) {
			if piece.Image != nil {
				items = append(items, imageItem(*piece.Image))
			} else {
				items = append(items, textItem(piece.Text))
			}
		}
	}
	return transcript.List(items...)
}

// fresh writes a message that has no entry in the original. Answers are of the model that answered
// last.
func (w *writing) fresh() {
	t := w.turn
	if t.Role == domarkx.User {
		w.message(t.ID, transcript.Object("role", "user", "content", w.said(jsonvalue.Array)))
		return
	}
	steps := transcript.Steps(t.Parts)
	for i, step := range steps {
		id, usage, stop := t.ID, transcript.Usage{}, "stop"
		if i > 0 {
			id = w.UUID("entry", t.ID, strconv.Itoa(i))
		}
		if i == len(steps)-1 && t.Usage != nil {
			usage = *t.Usage
		}
		if step[len(step)-1].Call != nil {
			stop = "toolUse"
		}
		zero := int64(0)
		w.message(id, transcript.Object(append(append([]any{"role", "assistant", "content", items(step)}, w.by()...),
			"usage", transcript.Object("input", usage.Input, "output", usage.Output, "cacheRead", usage.CacheRead, "cacheWrite", usage.CacheWrite,
				"totalTokens", usage.Input+usage.Output+usage.CacheRead+usage.CacheWrite,
				"cost", transcript.Object("input", zero, "output", zero, "cacheRead", zero, "cacheWrite", zero, "total", zero)),
			"stopReason", stop)...))
		for _, p := range step {
			if p.Call != nil {
				w.result(p.Call, p.Result)
			}
		}
	}
}

// by returns what an answer says about its model.
func (w *writing) by() []any {
	if w.model != nil {
		return w.model
	}
	return []any{"api", "unknown", "provider", "unknown", "model", cmp.Or(w.turn.Model, "unknown")}
}

// of notes which model answered.
func (w *writing) of(message jsonvalue.Value) {
	w.model = nil
	for _, name := range []string{"api", "provider", "model"} {
		w.model = append(w.model, name, strings.Clone(transcript.Text(message, name))) // the bytes of the message change
	}
}

func (w *writing) result(c *transcript.Call, r *transcript.Result) {
	w.message(w.UUID("result", w.turn.ID, c.ID), transcript.Object("role", "toolResult", "toolCallId", c.ID, "toolName", c.Tool, "content", resultItems(r), "isError", r.Failed))
}

// message writes a new entry with a message.
func (w *writing) message(id string, message jsonvalue.Value) {
	w.entry(transcript.Object("type", "message", "id", id, "parentId", "", "timestamp", w.turn.Time.Format(format.ISOTime),
		"message", message.With("timestamp", transcript.Num(w.turn.Time.UnixMilli()))))
}

// entry writes an entry as the child of the previous one.
func (w *writing) entry(v jsonvalue.Value) {
	id, parent := transcript.Text(v, "id"), jsonvalue.Value{}
	if w.used[id] {
		id = w.UUID("entry", w.last, id)
	}
	if w.last != "" {
		parent = transcript.Str(w.last)
	}
	v = w.migrated(v).With("id", transcript.Str(id)).With("parentId", parent)
	switch kind := transcript.Text(v, "type"); {
	case transcript.Text(v, "message", "role") == "assistant":
		w.of(transcript.Get(v, "message"))
	case kind == "compaction" && !w.used[transcript.Text(v, "firstKeptEntryId")]:
		w.Lose(w.turn, "what a compaction keeps from an entry on that does not exist")
	case kind == "session_info":
		w.name = strings.Clone(transcript.Text(v, "name"))
	}
	w.Line(v)
	w.last = strings.Clone(id)
	w.used[w.last] = true
}

// migrated returns an entry converted to version 3.
func (w *writing) migrated(v jsonvalue.Value) jsonvalue.Value {
	if message := transcript.Get(v, "message"); transcript.Text(message, "role") == "hookMessage" {
		return v.With("message", message.With("role", transcript.Str("custom")))
	}
	if k := transcript.Int(v, "firstKeptEntryIndex"); k > 0 && w.original != nil && k <= int64(len(w.way)) && !transcript.Has(v, "firstKeptEntryId") {
		return v.Without("firstKeptEntryIndex").With("firstKeptEntryId", transcript.Str(w.way[k-1].id)) // 0 is the header
	}
	return v
}
