package pi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// idOf returns the ID of an entry. If the entry has none, the ID is derived from its content.
func idOf(v jsonvalue.Value) string {
	if id := transcript.Text(v, "id"); id != "" {
		return id
	}
	sum := sha256.Sum256(v.AppendJSON(nil, "", ""))
	return hex.EncodeToString(sum[:4])
}

// say adds the content of an entry to a message.
func say(v jsonvalue.Value, m *transcript.Message) {
	id, e := idOf(v), entryOf(v)
	m.Said(id, transcript.Text(v, "timestamp"))
	switch e.kind {
	case shell:
		m.Text(fenced("bash", e.content().Text()))
		m.Text(fenced("text", transcript.Text(e.body, "output")))
		return
	case result:
		m.Result(resultOf(e.body))
		return
	case answer:
		sayAnswer(id, e.body, m)
	default:
		if e.isSummary(v) {
			m.Add(transcript.KeySummary, jsonvalue.BoolValue(true))
		}
	}
	if e.content().Kind() == jsonvalue.String {
		m.Text(e.content().Text())
	}
	for _, item := range e.content().Items() {
		switch {
		case isText(item):
			m.Text(transcript.Text(item, "text"))
		case transcript.Text(item, "type") == "image":
			if !m.Image(imageOf(item)) {
				m.Text("[image]")
			}
		case transcript.Text(item, "type") == "thinking" && e.kind == answer:
			m.Thought(transcript.Text(item, "thinking"))
		case isCall(item) && e.kind == answer:
			m.Call(transcript.Call{ID: transcript.Text(item, "id"), Tool: transcript.Text(item, "name"), Arguments: transcript.Get(item, "arguments")})
		}
	}
}

// isSummary reports whether an entry replaces all entries before it in the model's context.
func (e entry) isSummary(v jsonvalue.Value) bool {
	return transcript.Text(v, "type") == "compaction" || transcript.Text(e.body, "role") == "compactionSummary"
}

// sayAnswer adds the model, usage and other properties of an answer.
func sayAnswer(id string, message jsonvalue.Value, m *transcript.Message) {
	m.Model, m.Stop = transcript.Text(message, "model"), transcript.Text(message, "stopReason")
	if why := transcript.Text(message, "errorMessage"); why != "" {
		m.Add("error", transcript.Str(why))
	}
	u := transcript.Get(message, "usage")
	if len(u.Members()) == 0 {
		return
	}
	m.Usage = &transcript.Usage{Input: transcript.Int(u, "input"), CacheRead: transcript.Int(u, "cacheRead"), CacheWrite: transcript.Int(u, "cacheWrite"), Output: transcript.Int(u, "output")}
	m.Cost(transcript.Get(u, "cost", "total"))
	response := transcript.Text(message, "responseId")
	if response == "" { // ids of entries are so short that other sessions may have the same
		response = id + "-" + transcript.Get(message, "timestamp").Text()
	}
	m.Add("response_id", transcript.Str(response))
}

// fenced returns text as a Markdown code block.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence
}

func imageOf(item jsonvalue.Value) mdtext.Image {
	return mdtext.Image{Type: transcript.Text(item, "mimeType"), Data: transcript.Text(item, "data")}
}

// resultOf returns the result in a message: its texts and images, or JSON if it has anything else.
func resultOf(message jsonvalue.Value) transcript.Result {
	r := transcript.Result{ID: transcript.Text(message, "toolCallId"), Failed: transcript.Get(message, "isError").IsTrue(), Value: transcript.Get(message, "content")}
	if r.Value.Kind() == jsonvalue.String {
		return r
	}
	var texts []string
	for _, item := range r.Value.Items() {
		switch {
		case isText(item):
			texts = append(texts, transcript.Text(item, "text"))
		case transcript.Text(item, "type") == "image":
			r.Images = append(r.Images, imageOf(item))
		default:
			r.Images, r.Value = nil, transcript.Str(transcript.Indented(r.Value))
			return r
		}
	}
	r.Value = transcript.Str(strings.Join(texts, "\n"))
	return r
}
