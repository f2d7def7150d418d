package claudecode

import (
	"cmp"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
	"github.com/domarkx/domarkx/format/transcript"
)

// say adds the content of a record to a message.
func say(v jsonvalue.Value, m *transcript.Message) {
	m.Said(transcript.Text(v, "uuid"), transcript.Text(v, "timestamp"))
	cwd, branch, _ := strings.Cut(m.Context, "\n")
	m.Cwd, m.Branch = cmp.Or(m.Cwd, transcript.Text(v, "cwd"), cwd), cmp.Or(m.Branch, branchOf(v), branch)
	content := transcript.Get(v, "message", "content")
	switch transcript.Text(v, "type") {
	case typeQueue:
		m.Said("queued-"+transcript.Text(v, "timestamp"), "")
		m.Text(shown(transcript.Text(v, "content")))
	case subProgress:
		m.Said("prompt-"+transcript.Text(v, "agentId"), "")
		m.Text(transcript.Text(v, "prompt"))
	case typeAttachment:
		m.Add("queued", jsonvalue.BoolValue(true))
		sayPrompt(transcript.Get(v, "attachment", "prompt"), m)
	case typeAssistant:
		sayAnswer(v, m)
	case typeUser:
		if m.Role == domarkx.Assistant {
			for _, item := range content.Items() {
				if isResult(item) {
					m.Result(resultOf(item))
				}
			}
			return
		}
		if isSummary(v) {
			m.Add(transcript.KeySummary, jsonvalue.BoolValue(true))
		}
		sayPrompt(content, m)
	}
}

func sayPrompt(content jsonvalue.Value, m *transcript.Message) {
	if content.Kind() == jsonvalue.String {
		m.Text(shown(content.Text()))
		return
	}
	for _, item := range content.Items() {
		switch transcript.Text(item, "type") {
		case "text":
			m.Text(shown(transcript.Text(item, "text")))
		case "image":
			if !m.Image(imageOf(item)) {
				m.Text("[image: " + transcript.Text(item, "source", "url") + "]")
			}
		case "document":
			m.Text("[document: " + cmp.Or(transcript.Text(item, "title"), transcript.Text(item, "source", "media_type")) + "]")
		}
	}
}

// sayAnswer adds a record of the assistant. Each record of a response repeats its model and usage;
// only the last usage is complete.
func sayAnswer(v jsonvalue.Value, m *transcript.Message) {
	message := transcript.Get(v, "message")
	m.Model, m.Stop = cmp.Or(m.Model, transcript.Text(message, "model")), cmp.Or(transcript.Text(message, "stop_reason"), m.Stop)
	if u := transcript.Get(message, "usage"); u.Kind() == jsonvalue.Object {
		m.Usage = &transcript.Usage{Input: transcript.Int(u, "input_tokens"), CacheRead: transcript.Int(u, "cache_read_input_tokens"),
			CacheWrite: transcript.Int(u, "cache_creation_input_tokens"), Output: transcript.Int(u, "output_tokens"),
			Reasoning: transcript.Int(u, "output_tokens_details", "thinking_tokens")}
	}
	if id := transcript.Text(message, "id"); id != "" && m.Usage != nil {
		m.Add("response_id", jsonvalue.StringValue(id))
	}
	m.Cost(transcript.Get(v, "costUSD"))
	if transcript.Get(v, "isApiErrorMessage").IsTrue() {
		m.Add("error", jsonvalue.BoolValue(true))
	}
	content := transcript.Get(message, "content")
	if content.Kind() == jsonvalue.String {
		m.Text(content.Text())
	}
	for _, item := range content.Items() {
		switch {
		case transcript.Text(item, "type") == "text":
			m.Text(transcript.Text(item, "text"))
		case transcript.Text(item, "type") == "thinking":
			m.Thought(transcript.Text(item, "thinking"))
		case isCall(item):
			m.Call(transcript.Call{ID: transcript.Text(item, "id"), Tool: transcript.Text(item, "name"), Arguments: transcript.Get(item, "input")})
		case isResult(item): // the result of a tool that ran on the server
			m.Result(resultOf(item))
		case transcript.Text(item, "type") == "image":
			m.Image(imageOf(item))
		}
	}
}

func imageOf(item jsonvalue.Value) mdtext.Image {
	return mdtext.Image{Type: transcript.Text(item, "source", "media_type"), Data: transcript.Text(item, "source", "data")}
}

// resultOf returns the result in an item: its texts, or JSON if it holds anything other than texts.
func resultOf(item jsonvalue.Value) transcript.Result {
	r := transcript.Result{ID: transcript.Text(item, "tool_use_id"), Failed: transcript.Get(item, "is_error").IsTrue()}
	content := transcript.Get(item, "content")
	switch content.Kind() {
	case jsonvalue.Array:
	case jsonvalue.String:
		r.Value = content
		return r
	case jsonvalue.Null:
		r.Value = transcript.Str("")
		return r
	default:
		r.Value = transcript.Str(transcript.Indented(content))
		return r
	}
	var texts []string
	for _, part := range content.Items() {
		switch transcript.Text(part, "type") {
		case "text":
			texts = append(texts, transcript.Text(part, "text"))
		case "image":
			r.Images = append(r.Images, imageOf(part))
		default:
			r.Images, r.Value = nil, transcript.Str(transcript.Indented(content))
			return r
		}
	}
	r.Value = transcript.Str(strings.Join(texts, "\n"))
	return r
}
