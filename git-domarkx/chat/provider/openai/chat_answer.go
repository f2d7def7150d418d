package openai

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// stops are the reasons why answers end; any other one is [provider.StopOther].
var stops = map[string]provider.Stop{"stop": provider.StopEnd, "tool_calls": provider.StopTools, "function_call": provider.StopTools,
	"length": provider.StopMaxTokens, "content_filter": provider.StopRefusal}

// A chatAnswer reads the chunks of one stream.
type chatAnswer struct {
	provider.Stream
	merged   object // the message so far, without its calls
	calls    []*chatCall
	last     map[int64]*chatCall // the last call with each index
	thoughts string              // the member with the reasoning; some servers send it twice, under two names
	refused  bool
}

// A chatCall is a call in progress.
type chatCall struct {
	id string
	object
}

func (a *chatAnswer) event(data []byte) error {
	if bytes.HasPrefix(data, []byte("[DONE]")) {
		if a.Reported == "" {
			return &provider.Error{Kind: provider.ErrCut}
		}
		a.Done = true
		return nil
	}
	var chunk struct {
		Error   json.RawMessage `json:"error"`
		Model   string          `json:"model"`
		Choices []struct {
			Delta        json.RawMessage `json:"delta"`
			FinishReason string          `json:"finish_reason"`
		} `json:"choices"`
		Usage *chatUsage `json:"usage"`
	}
	if err := provider.Decode(data, &chunk); err != nil {
		return err
	}
	if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
		return a.Failure(provider.ParseFailure(data))
	}
	a.Model = cmp.Or(chunk.Model, a.Model)
	if chunk.Usage != nil {
		a.Usage = chunk.Usage.usage()
	}
	if len(chunk.Choices) == 0 {
		return nil
	}
	if choice := chunk.Choices[0]; kind(choice.Delta) == '{' {
		if err := a.delta(choice.Delta); err != nil {
			return err
		}
	}
	if reason := chunk.Choices[0].FinishReason; reason != "" {
		a.Reported, a.MayEnd = reason, true // some servers do not send "[DONE]"
	}
	return nil
}

// A chatUsage holds the tokens of a chunk. They are floating-point because some servers write 12.0.
type chatUsage struct {
	Prompt     float64 `json:"prompt_tokens"`
	Completion float64 `json:"completion_tokens"`
	Total      float64 `json:"total_tokens"`
	Details    struct {
		Cached  float64 `json:"cached_tokens"`
		Written float64 `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	OutputDetails struct {
		Reasoning float64 `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// usage converts the tokens. Gemini's completion_tokens exclude reasoning, but its total includes it.
func (u *chatUsage) usage() provider.Usage {
	cached, written := u.Details.Cached, u.Details.Written
	output := max(u.Completion, u.Total-u.Prompt)
	reasoning := u.OutputDetails.Reasoning
	if reasoning == 0 {
		reasoning = output - u.Completion
	}
	return provider.Usage{Input: int64(max(0, u.Prompt-cached-written)), CacheRead: int64(cached), CacheWrite: int64(written), Output: int64(output), Reasoning: int64(reasoning)}
}

func (a *chatAnswer) delta(raw []byte) error {
	members, err := provider.Members(raw)
	if err != nil {
		return err
	}
	for _, m := range members {
		grown, s := 0, ""
		switch m.Name {
		case "tool_calls":
			a.merged.add(m.Name, []byte("[]")) // a placeholder; complete replaces it
			err = a.toolCalls(m.Value)
		case "content", "refusal":
			grown = a.merged.add(m.Name, m.Value)
			if s = provider.TextOf(m.Value); s != "" {
				a.refused = a.refused || m.Name == "refusal"
				err = a.Text(s)
			}
		case "reasoning_content", "reasoning":
			grown = a.merged.add(m.Name, m.Value)
			if s = provider.TextOf(m.Value); a.thoughts != "" && a.thoughts != m.Name {
				s = ""
			} else if s != "" {
				a.thoughts = m.Name
				err = a.Thought(s)
			}
		default:
			grown = a.merged.add(m.Name, m.Value)
		}
		if err == nil && s == "" { // the collector counts text itself
			err = a.Grow(grown)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *chatAnswer) toolCalls(list []byte) error {
	var pieces []json.RawMessage
	if err := json.Unmarshal(list, &pieces); err != nil {
		return provider.Invalid(err)
	}
	for _, piece := range pieces {
		if err := a.Grow(len(piece)); err != nil {
			return err
		}
		var head struct {
			Index int64  `json:"index"`
			ID    string `json:"id"`
		}
		if err := json.Unmarshal(piece, &head); err != nil {
			return provider.Invalid(err)
		}
		members, err := provider.Members(piece)
		if err != nil {
			return err
		}
		c := a.callAt(head.Index, head.ID)
		for _, m := range members {
			if m.Name != "index" {
				c.add(m.Name, m.Value)
			}
		}
	}
	return nil
}

// callAt returns the call that a piece belongs to. Gemini sends parallel calls with the same index,
// each complete and with an id of its own.
func (a *chatAnswer) callAt(index int64, id string) *chatCall {
	if c := a.last[index]; c != nil && (id == "" || c.id == "" || id == c.id) {
		if c.id == "" {
			c.id = id
		}
		return c
	}
	c := &chatCall{id: id}
	a.calls = append(a.calls, c)
	if a.last == nil {
		a.last = map[int64]*chatCall{}
	}
	a.last[index] = c
	return c
}

// complete completes the answer. Its only raw item is the message as JSON.
func (a *chatAnswer) complete() error {
	calls := make([][]byte, len(a.calls))
	for i, c := range a.calls {
		calls[i] = c.bytes()
		var call struct {
			Function struct{ Name, Arguments string }
		}
		if err := json.Unmarshal(calls[i], &call); err != nil {
			return provider.Invalid(err)
		}
		a.Call(provider.Call{ID: c.id, Name: call.Function.Name, Arguments: call.Function.Arguments})
	}
	if len(calls) > 0 {
		a.merged.set("tool_calls", provider.Join(calls))
	}
	if a.Stop = cmp.Or(stops[a.Reported], provider.StopOther); a.refused {
		a.Stop = provider.StopRefusal
	}
	if len(a.merged.entries) > 0 {
		a.merged.add("role", []byte(`"assistant"`))
		a.Items = [][]byte{a.merged.bytes()}
	}
	return nil
}
