package transcript

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/mdtext"
)

// A Message is a message that is being made from its records.
type Message struct {
	Role    domarkx.Role
	Context string // [Session.Context] at the beginning of the message
	ID      string // that of the first of its records that has one
	Cwd     string
	Branch  string
	Model   string
	Stop    string
	Usage   *Usage

	agent  *Agent
	queued bool
	time   string
	extra  []jsonvalue.Member
	parts  []Part
}

// Usage holds numbers of tokens of a response. Input does not include tokens that were read from
// the cache or written to it; Output includes those of reasoning.
type Usage struct{ Input, CacheRead, CacheWrite, Output, Reasoning int64 }

// A Part is a part of a message: text, a thought, or a call with its result.
type Part struct {
	Text    string // Markdown
	Thought bool   // Text is reasoning

	Call   *Call
	Result *Result // of Call, or if that is nil, of an unknown call
}

// A Call is a call of a tool.
type Call struct {
	Resource  string // "" for the name of the agent's format
	ID, Tool  string
	Arguments jsonvalue.Value // an object
}

// A Result is the answer of a tool.
type Result struct {
	ID     string // of the call
	Failed bool
	Code   string // of a failure; "" for [domarkx.CodeFailed]
	Value  jsonvalue.Value
	Images []mdtext.Image
}

func newMessage(a *Agent, s *said, context string) *Message {
	m := &Message{Role: domarkx.Assistant, Context: context, agent: a, queued: s.queued}
	if s.role == Prompt {
		m.Role = domarkx.User
	}
	return m
}

// Said records the id and the time of a record of the message. Only the first of each is used.
func (m *Message) Said(id, time string) {
	m.ID, m.time = cmp.Or(m.ID, id), cmp.Or(m.time, time)
}

// Add records a property that only some messages have. A later value of the same name replaces an
// earlier one.
func (m *Message) Add(name string, v jsonvalue.Value) {
	m.extra = slices.DeleteFunc(m.extra, func(e jsonvalue.Member) bool { return e.Name == name })
	m.extra = append(m.extra, jsonvalue.Member{Name: name, Value: v})
}

// Cost records the cost of the response in USD, if v is a number above 0.
func (m *Message) Cost(v jsonvalue.Value) {
	if n, err := strconv.ParseFloat(v.Text(), 64); v.Kind() == jsonvalue.Number && err == nil && n > 0 {
		m.Add("cost", v)
	}
}

// Text adds Markdown.
func (m *Message) Text(s string) {
	if strings.TrimSpace(s) != "" {
		m.parts = append(m.parts, Part{Text: s})
	}
}

// Thought adds reasoning.
func (m *Message) Thought(s string) {
	if strings.TrimSpace(s) != "" {
		m.parts = append(m.parts, Part{Text: s, Thought: true})
	}
}

// Image adds an image. It returns false, and adds nothing, if Markdown cannot show it.
func (m *Message) Image(i mdtext.Image) bool {
	markdown, ok := i.Markdown()
	if ok {
		m.parts = append(m.parts, Part{Text: markdown})
	}
	return ok
}

// Call adds a call. Arguments that are not an object become its member "input".
func (m *Message) Call(c Call) {
	c.Tool = cmp.Or(c.Tool, "unknown")
	switch c.Arguments.Kind() {
	case jsonvalue.Object:
	case jsonvalue.Null:
		c.Arguments = jsonvalue.ObjectValue()
	default:
		c.Arguments = Object("input", c.Arguments)
	}
	m.parts = append(m.parts, Part{Call: &c})
}

// Result adds the result of a call in this message. If the message is an answer without calls, it
// adds the result without a call. Otherwise it ignores a result whose call is not in this message.
func (m *Message) Result(r Result) {
	for i := len(m.parts) - 1; i >= 0; i-- {
		if c := m.parts[i].Call; c != nil && c.ID == r.ID && m.parts[i].Result == nil {
			m.parts[i].Result = &r
			return
		}
	}
	if !slices.ContainsFunc(m.parts, func(p Part) bool { return p.Call != nil }) && m.Role == domarkx.Assistant {
		m.parts = append(m.parts, Part{Result: &r})
	}
}

// The codes of the errors in the place of missing results: of a call whose turn was aborted, or of
// an agent that records no results. Without a result, a call would count as pending.
const (
	codeNoResult    = "no_result"
	codeNotRecorded = "not_recorded"
)

// block returns the tool-call block of a call.
func (c *Call) block(agent string) domarkx.Block {
	return Code("tool-call", Indented(Object("resource", cmp.Or(c.Resource, agent), "tool", c.Tool, "id", c.ID, "arguments", c.Arguments)))
}

// block returns the tool-result block of a result.
func (r *Result) block() domarkx.Block {
	if !r.Failed {
		return Code("tool-result", Indented(Object("ok", true, "result", r.Value)))
	}
	return Code("tool-result", Indented(Object("ok", false, "error", Object("code", cmp.Or(r.Code, domarkx.CodeFailed), "message", r.Said()))))
}

func (m *Message) unanswered() domarkx.Block {
	r := Result{Failed: true, Code: codeNoResult, Value: Str("the transcript has no result of this call")}
	if m.agent.Unrecorded {
		r.Code, r.Value = codeNotRecorded, Str(m.agent.Program+" does not record the results of calls")
	}
	return r.block()
}

// finish returns the message.
func (m *Message) finish() domarkx.WrittenMessage {
	out := domarkx.WrittenMessage{Message: domarkx.Message{Role: m.Role}}
	var texts []string
	var runs [][]string // the glue of each run of texts
	flush := func() {
		blocks, glue := splitText(texts)
		out.Content = append(out.Content, blocks...)
		runs, texts = append(runs, glue), nil
	}
	for _, p := range m.parts {
		if p.Call == nil && p.Result == nil && !p.Thought {
			texts = append(texts, p.Text)
			continue
		}
		flush()
		switch {
		case p.Thought:
			out.Content = append(out.Content, Code("thought", p.Text))
		case p.Call != nil && p.Result == nil:
			out.Content = append(out.Content, p.Call.block(m.agent.Name), m.unanswered())
		case p.Call != nil:
			out.Content = append(out.Content, p.Call.block(m.agent.Name), p.Result.block())
		default:
			out.Content = append(out.Content, p.Result.block())
		}
		if p.Result != nil {
			for _, i := range p.Result.Images {
				if markdown, ok := i.Markdown(); ok {
					texts = append(texts, markdown)
				}
			}
		}
	}
	flush()
	members := m.metadata()
	if note, ok := runsNote(runs); ok {
		members = append(members, note)
	}
	metadata := jsonvalue.ObjectValue(jsonvalue.Distinct(members)...)
	out.Metadata = &metadata
	out.Origin = m.agent.Name + " " + m.ID
	if t, ok := format.ParseTime(m.time); ok && t.Unix() > 0 {
		out.Date = t.Unix()
	}
	return out
}

// metadata returns the members of message_metadata.
func (m *Message) metadata() []jsonvalue.Member {
	var usage, queued any
	if u := m.Usage; u != nil {
		usage = Object("input", u.Input, "cache_read", u.CacheRead, "cache_write", u.CacheWrite, "output", u.Output, "reasoning", u.Reasoning)
	}
	if m.queued {
		queued = true
	}
	about := Object("id", jsonvalue.Maybe(m.ID), "model", jsonvalue.Maybe(m.Model), "stop_reason", jsonvalue.Maybe(m.Stop), "usage", usage, "cwd", jsonvalue.Maybe(m.Cwd),
		"git_branch", jsonvalue.Maybe(m.Branch), "queued", queued)
	return append(about.Members(), m.extra...)
}

// splitText splits consecutive texts into blocks. It also returns the text between the blocks, or
// nil if the blocks determine it. If a block would be read as a call, as configuration, or as
// anything except text and plain code, the whole text becomes one text block.
func splitText(texts []string) ([]domarkx.Block, []string) {
	if len(texts) == 0 {
		return nil, nil
	}
	whole := strings.Join(texts, "\n\n")
	blocks, glue := mdtext.Split(whole)
	if slices.ContainsFunc(blocks, isSpecial) {
		return []domarkx.Block{{Type: domarkx.TextBlock, Text: whole}}, nil
	}
	return blocks, glue
}

// isSpecial reports whether a block has a meaning beyond its text: a thought, a call or its result,
// a configuration or setup script, or code that can be run by its name.
func isSpecial(b domarkx.Block) bool {
	if b.Type != domarkx.CodeBlock {
		return false
	}
	switch b.Language {
	case "thought", "tool-call", "tool-result", "workspace-config", "session-config", "setup-script",
		"domarkx-snapshot", "domarkx-message", "msg-metadata":
		return true
	}
	return b.HasName
}

// keyRuns is the member of message_metadata with the glue of each run of texts: null for a run
// whose blocks determine it.
const keyRuns = "runs"

// runsNote returns the member of message_metadata that records the glue of runs, and whether one is
// needed.
func runsNote(runs [][]string) (jsonvalue.Member, bool) {
	if len(runs) == 1 && runs[0] != nil {
		return jsonvalue.Member{Name: domarkx.MetadataGlue, Value: jsonvalue.Strings(runs[0])}, true
	}
	notes := make([]jsonvalue.Value, len(runs))
	noted := false
	for i, glue := range runs {
		if glue != nil {
			notes[i], noted = Object(domarkx.MetadataGlue, jsonvalue.Strings(glue)), true
		}
	}
	return jsonvalue.Member{Name: keyRuns, Value: List(notes...)}, noted
}

// glueOf returns the glue of run k of a message, which may be its only one; nil if none is recorded.
func glueOf(m domarkx.Message, k int, isOnly bool) []string {
	if isOnly && m.Glue() != nil {
		return m.Glue()
	}
	notes := Get(m.Meta(), keyRuns).Items()
	if k >= len(notes) {
		return nil
	}
	return Get(notes[k], domarkx.MetadataGlue).Texts()
}
