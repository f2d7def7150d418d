package openai

import (
	"encoding/json"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// A responsesAnswer reads the events of one stream.
type responsesAnswer struct {
	collector *provider.Collector
	key       provider.Key
	items     [][]byte
	shown     map[int64]int // indexes of items whose text arrived in deltas → bytes of it that no item counts yet
	calls     bool
	refused   bool
	done      bool
}

func (a *responsesAnswer) event(data []byte) error {
	if strings.HasPrefix(string(data), "[DONE]") {
		return nil
	}
	var head struct {
		Type  string          `json:"type"`
		Item  json.RawMessage `json:"item"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return provider.Invalid(err)
	}
	var e streamEvent
	switch head.Type {
	case "error", "":
		if head.Type == "" && len(head.Error) == 0 {
			return nil
		}
		return provider.NewError(provider.ParseFailure(data), a.key)
	case "response.output_item.done":
		// the item is decoded below and also kept unchanged
	case "response.output_text.delta", "response.refusal.delta", "response.reasoning_summary_text.delta", "response.reasoning_text.delta",
		"response.reasoning_summary_part.added", "response.created", "response.completed", "response.incomplete", "response.failed":
	default:
		return nil // events without new information, and events that this version does not know
	}
	if err := provider.Decode(data, &e); err != nil {
		return err
	}
	switch e.Type {
	case "response.created":
		a.collector.Model(e.Response.Model)
	case "response.output_text.delta", "response.refusal.delta":
		a.shown[e.OutputIndex] += len(e.Delta)
		a.refused = a.refused || e.Type == "response.refusal.delta"
		return a.collector.Text(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.shown[e.OutputIndex] += len(e.Delta)
		return a.collector.Thought(e.Delta)
	case "response.reasoning_summary_part.added":
		a.collector.Break()
	case "response.output_item.done":
		return a.item(e.OutputIndex, head.Item)
	case "response.failed":
		f := provider.Failure{Code: e.Response.Error.Code, Message: e.Response.Error.Message}
		return provider.NewError(f, a.key)
	case "response.completed", "response.incomplete":
		a.done = true
		a.finish(e.Response)
	}
	return nil
}

// item adds a completed output item.
func (a *responsesAnswer) item(index int64, raw []byte) error {
	var item outputItem
	if err := provider.Decode(raw, &item); err != nil {
		return err
	}
	counted, shown := a.shown[index]
	if err := a.collector.Grow(max(0, len(raw)-counted)); err != nil {
		return err
	}
	if shown {
		a.shown[index] = 0
	}
	a.items = append(a.items, raw)
	a.collector.Break()
	switch item.Type {
	case "function_call":
		a.calls = true
		a.collector.Call(provider.Call{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
	case "message":
		for _, c := range item.Content {
			a.refused = a.refused || c.Type == "refusal"
			if !shown {
				if err := a.collector.Text(c.Text + c.Refusal); err != nil {
					return err
				}
			}
		}
	case "reasoning":
		if shown {
			return nil
		}
		for _, s := range item.Summary {
			if err := a.collector.Thought(s.Text); err != nil {
				return err
			}
			a.collector.Break()
		}
	}
	return nil
}

func (a *responsesAnswer) finish(r streamResponse) {
	a.collector.Model(r.Model)
	u := r.Usage
	cached, written := u.Details.Cached, u.Details.Written
	a.collector.Usage(provider.Usage{Input: int64(max(0, u.Input-cached-written)), CacheRead: int64(cached), CacheWrite: int64(written),
		Output: int64(u.Output), Reasoning: int64(u.OutputDetails.Reasoning)})
	reported := r.Status
	stop := provider.StopEnd
	switch {
	case r.Status == "incomplete":
		reported = r.IncompleteDetails.Reason
		switch reported {
		case "max_output_tokens", "max_tokens":
			stop = provider.StopMaxTokens
		case "content_filter":
			stop = provider.StopRefusal
		default:
			stop = provider.StopOther
		}
	case a.refused:
		stop = provider.StopRefusal
	case a.calls:
		stop = provider.StopTools
	}
	a.collector.Stop(stop, reported)
}
