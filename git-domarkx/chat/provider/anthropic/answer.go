package anthropic

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// An answer reads the events of one stream.
type answer struct {
	collector *provider.Collector
	key       provider.Key
	usage     usage
	blocks    map[int64]*block // blocks that have begun and not ended
	items     [][]byte
	stop      string
	done      bool
}

// A block is a content block in progress.
type block struct {
	start     []byte // JSON of content_block_start, as received
	kind      string
	text      provider.RawText // for a text or thinking block
	signature provider.RawText
	input     provider.RawText // JSON of a call's arguments, as a JSON string
	citations [][]byte
	id, name  string
}

// read reads a stream to its end.
func (a *answer) read(ctx context.Context, res *http.Response) error {
	a.blocks = map[int64]*block{}
	return provider.ReadEvents(ctx, res, a.key, a.event, &a.done, &a.done)
}

func (a *answer) event(data []byte) error {
	var head struct{ Type string }
	if err := json.Unmarshal(data, &head); err != nil {
		return provider.Invalid(err)
	}
	switch head.Type {
	case "error":
		return provider.NewError(provider.ParseFailure(data), a.key)
	case "message_start", "message_delta", "content_block_start", "content_block_delta", "content_block_stop", "message_stop":
	default:
		return nil // "ping", and events that this version does not know
	}
	var e streamEvent
	if err := provider.Decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		a.collector.Model(e.Message.Model)
		a.usage.update(e.Message.Usage)
		a.count()
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.stop = e.Delta.StopReason
		}
		a.usage.update(e.Usage)
		a.count()
	case "content_block_start":
		return a.start(e)
	case "content_block_delta":
		return a.delta(e)
	case "content_block_stop":
		return a.end(e.Index)
	case "message_stop":
		a.done = true
		a.collector.Stop(stopOf(a.stop), a.stop)
	}
	return nil
}

// count passes the usage so far on.
func (a *answer) count() {
	u := provider.Usage{Input: tokens(a.usage.Input), CacheRead: tokens(a.usage.CacheRead), CacheWrite: tokens(a.usage.CacheWrite), Output: tokens(a.usage.Output)}
	if a.usage.Details != nil {
		u.Reasoning = a.usage.Details.Thinking
	}
	a.collector.Usage(u)
}

func tokens(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func (a *answer) start(e streamEvent) error {
	raw := []byte(e.ContentBlock)
	var c struct {
		Type, ID, Name            string
		Text, Thinking, Signature json.RawMessage
	}
	if err := json.Unmarshal(raw, &c); err != nil {
		return provider.Invalid(err)
	}
	b := &block{start: raw, kind: c.Type, id: c.ID, name: c.Name}
	a.blocks[e.Index] = b
	a.collector.Break()
	b.signature.Add(string(c.Signature))
	if err := a.collector.Grow(len(raw)); err != nil {
		return err
	}
	if b.kind == "thinking" {
		return a.grow(b, string(c.Thinking))
	}
	return a.grow(b, string(c.Text))
}

// grow appends a JSON string to the text of a block.
func (a *answer) grow(b *block, quoted string) error {
	b.text.Add(quoted)
	var s string
	if quoted == "" || json.Unmarshal([]byte(quoted), &s) != nil {
		return nil
	}
	if b.kind == "thinking" {
		return a.collector.Thought(s)
	}
	return a.collector.Text(s)
}

func (a *answer) delta(e streamEvent) error {
	b := a.blocks[e.Index]
	if b == nil {
		return nil
	}
	d := e.Delta
	switch d.Type {
	case "text_delta":
		return a.grow(b, string(d.Text))
	case "thinking_delta":
		return a.grow(b, string(d.Thinking))
	case "signature_delta":
		b.signature.Add(string(d.Signature))
		return a.collector.Grow(len(d.Signature))
	case "input_json_delta":
		b.input.Add(string(d.PartialJSON))
		return a.collector.Grow(len(d.PartialJSON))
	case "citations_delta":
		b.citations = append(b.citations, d.Citation)
		return a.collector.Grow(len(d.Citation))
	}
	return nil
}

// end completes a block.
func (a *answer) end(index int64) error {
	b := a.blocks[index]
	if b == nil {
		return nil
	}
	delete(a.blocks, index)
	item, err := b.item()
	if err != nil {
		return err
	}
	a.items = append(a.items, item)
	if b.kind == "tool_use" {
		var c struct{ Input json.RawMessage }
		if err := json.Unmarshal(item, &c); err != nil {
			return provider.Invalid(err)
		}
		arguments := string(c.Input)
		if b.input.Len() > 0 {
			arguments = b.input.Text()
		}
		a.collector.Call(provider.Call{ID: b.id, Name: b.name, Arguments: arguments})
	}
	return nil
}

// invalidArguments is the member in which arguments are sent back that are not a JSON object.
const invalidArguments = "invalid_arguments"

// item returns the block in the form to send back: the JSON that it began with, completed by its
// deltas.
func (b *block) item() ([]byte, error) {
	item := b.start
	set := func(name string, value []byte) (err error) {
		item, err = provider.SetMember(item, name, value)
		return err
	}
	var err error
	switch b.kind {
	case "text":
		if err = set("text", b.text.Quoted()); err == nil && len(b.citations) > 0 {
			err = set("citations", provider.Join(b.citations))
		}
	case "thinking":
		if err = set("thinking", b.text.Quoted()); err == nil {
			err = set("signature", b.signature.Quoted())
		}
	default:
		input := b.input.Text()
		switch {
		case b.input.Len() == 0 && b.kind == "tool_use" && !hasMember(item, "input"):
			err = set("input", []byte("{}"))
		case b.input.Len() > 0 && provider.IsObject(input):
			err = set("input", []byte(input))
		case b.input.Len() > 0: // the model wrote invalid JSON, and the wire has no other place for it
			quoted, _ := json.Marshal(map[string]string{invalidArguments: input})
			err = set("input", quoted)
		}
	}
	return item, err
}

func hasMember(object []byte, name string) bool {
	members, err := provider.Members(object)
	if err != nil {
		return false
	}
	for _, m := range members {
		if m.Name == name {
			return true
		}
	}
	return false
}

func stopOf(reason string) provider.Stop {
	switch reason {
	case "end_turn", "stop_sequence":
		return provider.StopEnd
	case "tool_use":
		return provider.StopTools
	case "max_tokens":
		return provider.StopMaxTokens
	case "model_context_window_exceeded":
		return provider.StopContext
	case "refusal":
		return provider.StopRefusal
	case "pause_turn":
		return provider.StopPause
	}
	return provider.StopOther
}

// A streamEvent is an event of the Messages API
// (https://docs.claude.com/en/docs/build-with-claude/streaming). Strings that belong to a raw item stay JSON.
type streamEvent struct {
	Type    string
	Index   int64
	Message struct {
		Model string
		Usage usage
	}
	ContentBlock json.RawMessage `json:"content_block"`
	Delta        struct {
		Type        string
		StopReason  string `json:"stop_reason"`
		Text        json.RawMessage
		Thinking    json.RawMessage
		Signature   json.RawMessage
		PartialJSON json.RawMessage `json:"partial_json"`
		Citation    json.RawMessage
	}
	Usage usage
}

// A usage counts tokens. Each event has only some of the counts, and a later one replaces an earlier one.
type usage struct {
	Input      *int64 `json:"input_tokens"`
	CacheRead  *int64 `json:"cache_read_input_tokens"`
	CacheWrite *int64 `json:"cache_creation_input_tokens"`
	Output     *int64 `json:"output_tokens"`
	Details    *struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

func (u *usage) update(now usage) {
	for _, count := range []struct{ old, now **int64 }{{&u.Input, &now.Input}, {&u.CacheRead, &now.CacheRead}, {&u.CacheWrite, &now.CacheWrite}, {&u.Output, &now.Output}} {
		if *count.now != nil {
			*count.old = *count.now
		}
	}
	if now.Details != nil {
		u.Details = now.Details
	}
}
