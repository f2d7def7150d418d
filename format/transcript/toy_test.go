package transcript_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/formattest"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// toy is an agent whose records have the members of a [transcript.Note] and a [transcript.Message],
// so that the tests can write any transcript that an agent may have:
//
//	{"toy": …}                       the first record; its members describe the session
//	{"is": "user", "text": …}        a prompt
//	{"is": "model", "say": [ITEM…]}  an answer; an item is a text, or one of thought, call, image, result
//	{"is": "about", …}               a record About an answer
//
// and the members of a Note by their names, in lower case.
func toy() *transcript.Agent {
	return &transcript.Agent{
		Name:    "toy",
		Program: "Toy",
		Is:      func(first jsonvalue.Value) bool { return transcript.Has(first, "toy") },
		Skips:   []string{"usage"},
		Array:   "records",
		Note:    toyNote,
		Say:     toySay,
		Write:   toyWrite,
		Path:    func(s transcript.Session) string { return "toys/" + format.FileName(s.ID) },
	}
}

func toyNote(v jsonvalue.Value, s *transcript.Session) transcript.Note {
	text := func(name string) string { return transcript.Text(v, name) }
	s.Named(text("title"), int(transcript.Int(v, "rank")))
	s.In(text("cwd"), text("branch"))
	for name, field := range map[string]*string{"toy": &s.ID, "sub": &s.Sub, "parent": &s.Parent, "context": &s.Context, "memory": &s.Memory} {
		if transcript.Has(v, name) {
			*field = text(name)
		}
	}
	n := transcript.Note{
		Kind: map[string]transcript.Kind{"user": transcript.Prompt, "model": transcript.Answer, "about": transcript.About}[text("is")],
		Once: text("once"), Group: text("group"), Text: text("text"), Time: text("time"),
		Alone: transcript.Get(v, "alone").IsTrue(), Latest: transcript.Get(v, "latest").IsTrue(),
		Queued: transcript.Get(v, "queued").IsTrue(),
		Link:   transcript.Link{ID: text("node"), Parent: text("behind"), After: text("after"), BackTo: text("backto"), Drop: int(transcript.Int(v, "drop"))},
		Inner:  transcript.Inner{Clear: transcript.Get(v, "clear").IsTrue(), Items: transcript.Get(v, "items").Items()},
	}
	for _, item := range transcript.Get(v, "say").Items() {
		if id := transcript.Text(item, "call"); id != "" {
			n.Calls = append(n.Calls, id)
		}
		if id := transcript.Text(item, "result"); id != "" {
			n.Results = append(n.Results, id)
		}
	}
	return n
}

func toySay(v jsonvalue.Value, m *transcript.Message) {
	m.Said(transcript.Text(v, "id"), transcript.Text(v, "time"))
	for name, field := range map[string]*string{"model": &m.Model, "stop": &m.Stop, "cwd": &m.Cwd, "branch": &m.Branch} {
		if s := transcript.Text(v, name); s != "" {
			*field = s
		}
	}
	if u := transcript.Get(v, "usage"); u.Kind() == jsonvalue.Object {
		m.Usage = &transcript.Usage{Input: transcript.Int(u, "input"), CacheRead: 2, CacheWrite: 3, Output: transcript.Int(u, "output"), Reasoning: 5}
	}
	for _, note := range transcript.Get(v, "add").Members() {
		m.Add(note.Name, note.Value)
	}
	m.Cost(transcript.Get(v, "cost"))
	if transcript.Text(v, "is") == "user" {
		m.Text(transcript.Text(v, "text"))
	}
	for _, item := range transcript.Get(v, "say").Items() {
		switch {
		case item.Kind() == jsonvalue.String:
			m.Text(item.Text())
		case m.Role == domarkx.User: // what users say is text
		case transcript.Has(item, "thought"):
			m.Thought(transcript.Text(item, "thought"))
		case transcript.Has(item, "call"):
			m.Call(transcript.Call{Resource: transcript.Text(item, "resource"), ID: transcript.Text(item, "call"), Tool: transcript.Text(item, "tool"), Arguments: transcript.Get(item, "arguments")})
		case transcript.Has(item, "image"):
			image, ok := mdtext.DataImage(transcript.Text(item, "image"))
			if !ok || !m.Image(image) {
				m.Text("(no image)")
			}
		case transcript.Has(item, "result"):
			r := transcript.Result{ID: transcript.Text(item, "result"), Failed: transcript.Get(item, "failed").IsTrue(), Code: transcript.Text(item, "code"), Value: transcript.Get(item, "value")}
			for _, url := range transcript.Get(item, "images").Items() {
				image, _ := mdtext.DataImage(url.Text())
				r.Images = append(r.Images, image)
			}
			m.Result(r)
		}
	}
}

// toyWrite writes a session so that toyNote and toySay read it.
func toyWrite(w *transcript.Writer) error {
	s := w.Session
	w.Line(transcript.Object("toy", s.ID, "title", s.Title, "cwd", s.Cwd))
	for t := range w.Turns() {
		at := t.Time.Format(format.ISOTime)
		if t.Role == domarkx.User {
			var texts []string
			for _, p := range t.Parts {
				texts = append(texts, p.Text)
			}
			w.Line(transcript.Object("is", "user", "id", t.ID, "time", at, "text", strings.Join(texts, "\n\n")))
			continue
		}
		var say []jsonvalue.Value
		for _, p := range t.Parts {
			if p.Call == nil {
				say = append(say, transcript.Str(p.Text))
				continue
			}
			var images []jsonvalue.Value
			for _, i := range p.Result.Images {
				images = append(images, transcript.Str("data:"+i.Type+";base64,"+i.Data))
			}
			say = append(say, transcript.Object("call", p.Call.ID, "tool", p.Call.Tool, "arguments", p.Call.Arguments),
				transcript.Object("result", p.Call.ID, "failed", p.Result.Failed, "code", p.Result.Code, "value", p.Result.Value, "images", transcript.List(images...)))
		}
		w.Line(transcript.Object("is", "model", "alone", true, "id", t.ID, "time", at, "model", t.Model, "say", transcript.List(say...)))
	}
	return nil
}

// lines returns a transcript of the session s1 that has these records.
func lines(records ...string) string {
	return strings.Join(append([]string{`{"toy": "s1"}`}, records...), "\n") + "\n"
}

// open reads a toy's transcript.
func open(t *testing.T, data string) []formattest.Conversation {
	t.Helper()
	return formattest.MustOpen(t, transcript.Codec(toy()), data)
}

// damage returns the reports about a document.
func damage(doc *domarkx.Document) []string {
	var all []string
	for _, report := range doc.Damage {
		all = append(all, report.Error())
	}
	return all
}

func encode(t *testing.T, doc *domarkx.Document, to format.Target) string {
	t.Helper()
	out, err := transcript.Codec(toy()).Encode(doc, to)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
