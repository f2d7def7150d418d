package anthropic

import (
	"cmp"
	"encoding/json"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// An answer reads the events of one stream.
type answer struct {
	provider.Stream
	usage  usage
	blocks map[int64]*block // blocks that have begun and not ended
}

func newAnswer(emit func(provider.Event)) *answer {
	return &answer{Stream: provider.NewStream(emit), blocks: map[int64]*block{}}
}

// A block is a content block in progress.
type block struct {
	json []byte // of content_block_start, as received
	head struct {
		Type, ID, Name                   string
		Text, Thinking, Signature, Input json.RawMessage
	}
	// JSON strings: of a text or thinking block, its signature, and the JSON of a call's arguments.
	text, signature, input []byte
	citations              [][]byte
}

func (a *answer) event(data []byte) error {
	var e streamEvent
	if err := provider.Decode(data, &e); err != nil {
		return err
	}
	switch e.Type { // others are "ping", and events that this version does not know
	case "error":
		return a.Failure(provider.ParseFailure(data))
	case "message_start":
		a.Model = cmp.Or(e.Message.Model, a.Model)
		a.count(e.Message.Usage)
	case "message_delta":
		a.Reported = cmp.Or(e.Delta.StopReason, a.Reported)
		a.count(e.Usage)
	case "content_block_start":
		return a.start(e)
	case "content_block_delta":
		return a.delta(e)
	case "content_block_stop":
		return a.end(e.Index)
	case "message_stop":
		a.Done = true
		a.Stop = cmp.Or(stops[a.Reported], provider.StopOther)
	}
	return nil
}

// count adds the tokens of an event, which has only some of the counts, and replaces the earlier ones.
func (a *answer) count(counts json.RawMessage) {
	u := &a.usage
	_ = json.Unmarshal(counts, u) // what is no number counts as missing
	a.Usage = provider.Usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Details.Thinking}
}

func (a *answer) start(e streamEvent) error {
	b := &block{json: e.ContentBlock, text: []byte(`""`), signature: []byte(`""`), input: []byte(`""`)}
	if err := json.Unmarshal(b.json, &b.head); err != nil {
		return provider.Invalid(err)
	}
	a.blocks[e.Index] = b
	a.Break()
	b.signature = provider.Extend(b.signature, b.head.Signature)
	if err := a.Grow(len(b.json)); err != nil {
		return err
	}
	if b.head.Type == "thinking" {
		return a.grow(b, b.head.Thinking)
	}
	return a.grow(b, b.head.Text)
}

// grow appends a JSON string to the text of a block.
func (a *answer) grow(b *block, quoted []byte) error {
	b.text = provider.Extend(b.text, quoted)
	s := provider.TextOf(quoted)
	if b.head.Type == "thinking" {
		return a.Thought(s)
	}
	return a.Text(s)
}

func (a *answer) delta(e streamEvent) error {
	b := a.blocks[e.Index]
	if b == nil {
		return nil
	}
	d := e.Delta
	switch d.Type {
	case "text_delta":
		return a.grow(b, d.Text)
	case "thinking_delta":
		return a.grow(b, d.Thinking)
	case "signature_delta":
		b.signature = provider.Extend(b.signature, d.Signature)
		return a.Grow(len(d.Signature))
	case "input_json_delta":
		b.input = provider.Extend(b.input, d.PartialJSON)
		return a.Grow(len(d.PartialJSON))
	case "citations_delta":
		b.citations = append(b.citations, d.Citation)
		return a.Grow(len(d.Citation))
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
	a.Items = append(a.Items, item)
	if b.head.Type == "tool_use" {
		arguments := cmp.Or(provider.TextOf(b.input), string(b.head.Input), "{}")
		a.Call(provider.Call{ID: b.head.ID, Name: b.head.Name, Arguments: arguments})
	}
	return nil
}

// invalidArguments is the member in which arguments are sent back that are not a JSON object.
const invalidArguments = "invalid_arguments"

// item returns the block in the form to send back: the JSON that it began with, completed by its
// deltas.
func (b *block) item() ([]byte, error) {
	item := b.json
	set := func(name string, value []byte) (err error) {
		item, err = provider.SetMember(item, name, value)
		return err
	}
	var err error
	switch b.head.Type {
	case "text":
		if err = set("text", b.text); err == nil && len(b.citations) > 0 {
			err = set("citations", provider.Join(b.citations))
		}
	case "thinking":
		if err = set("thinking", b.text); err == nil {
			err = set("signature", b.signature)
		}
	default:
		input := provider.TextOf(b.input)
		switch {
		case input == "" && b.head.Type == "tool_use" && b.head.Input == nil:
			err = set("input", []byte("{}"))
		case input != "" && provider.IsObject(input):
			err = set("input", []byte(input))
		case input != "": // the model wrote invalid JSON, and the wire has no other place for it
			quoted, _ := json.Marshal(map[string]string{invalidArguments: input})
			err = set("input", quoted)
		}
	}
	return item, err
}

// stops are the reasons why answers end; any other one is [provider.StopOther].
var stops = map[string]provider.Stop{
	"end_turn": provider.StopEnd, "stop_sequence": provider.StopEnd, "tool_use": provider.StopTools, "max_tokens": provider.StopMaxTokens,
	"model_context_window_exceeded": provider.StopContext, "refusal": provider.StopRefusal, "pause_turn": provider.StopPause,
}

// A streamEvent is an event of the Messages API
// (https://docs.claude.com/en/docs/build-with-claude/streaming). Strings that belong to a raw item stay JSON.
type streamEvent struct {
	Type    string
	Index   int64
	Message struct {
		Model string
		Usage json.RawMessage
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
	Usage json.RawMessage
}

// A usage counts tokens.
type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Details    struct {
		Thinking int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}
