package openai

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// A responsesAnswer reads the events of one stream.
type responsesAnswer struct {
	provider.Stream
	shown   map[int64]int // indexes of items whose text arrived in deltas → bytes of it that no item counts yet
	refused bool
}

func (a *responsesAnswer) event(data []byte) error {
	if strings.HasPrefix(string(data), "[DONE]") {
		return nil
	}
	var e streamEvent
	if err := provider.Decode(data, &e); err != nil {
		return err
	}
	switch e.Type { // others have no new information, or this version does not know them
	case "error", "":
		if e.Type == "" && len(e.Error) == 0 {
			return nil
		}
		return a.Failure(provider.ParseFailure(data))
	case "response.created":
		a.Model = cmp.Or(e.Response.Model, a.Model)
	case "response.output_text.delta", "response.refusal.delta":
		a.shown[e.OutputIndex] += len(e.Delta)
		a.refused = a.refused || e.Type == "response.refusal.delta"
		return a.Text(e.Delta)
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		a.shown[e.OutputIndex] += len(e.Delta)
		return a.Thought(e.Delta)
	case "response.reasoning_summary_part.added":
		a.Break()
	case "response.output_item.done":
		return a.item(e.OutputIndex, e.Item)
	case "response.failed":
		return a.Failure(provider.Failure{Code: e.Response.Error.Code, Message: e.Response.Error.Message})
	case "response.completed", "response.incomplete":
		a.Done = true
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
	if err := a.Grow(max(0, len(raw)-counted)); err != nil {
		return err
	}
	if shown {
		a.shown[index] = 0
	}
	a.Items = append(a.Items, raw)
	a.Break()
	switch item.Type {
	case "function_call":
		a.Call(provider.Call{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
	case "message":
		for _, c := range item.Content {
			a.refused = a.refused || c.Type == "refusal"
			if !shown {
				if err := a.Text(c.Text + c.Refusal); err != nil {
					return err
				}
			}
		}
	case "reasoning":
		if shown {
			return nil
		}
		for _, s := range item.Summary {
			if err := a.Thought(s.Text); err != nil {
				return err
			}
			a.Break()
		}
	}
	return nil
}

func (a *responsesAnswer) finish(r streamResponse) {
	a.Model = cmp.Or(r.Model, a.Model)
	u := r.Usage
	cached, written := u.Details.Cached, u.Details.Written
	a.Usage = provider.Usage{Input: int64(max(0, u.Input-cached-written)), CacheRead: int64(cached), CacheWrite: int64(written),
		Output: int64(u.Output), Reasoning: int64(u.OutputDetails.Reasoning)}
	a.Stop, a.Reported = provider.StopEnd, r.Status
	switch {
	case r.Status == "incomplete":
		switch a.Reported = r.IncompleteDetails.Reason; a.Reported {
		case "max_output_tokens", "max_tokens":
			a.Stop = provider.StopMaxTokens
		case "content_filter":
			a.Stop = provider.StopRefusal
		default:
			a.Stop = provider.StopOther
		}
	case a.refused:
		a.Stop = provider.StopRefusal
	}
}

// A streamEvent holds the members of all events of a stream that a [responsesAnswer] uses.
type streamEvent struct {
	Type        string         `json:"type"`
	OutputIndex int64          `json:"output_index"`
	Delta       string         `json:"delta"`
	Response    streamResponse `json:"response"`
	Item        json.RawMessage
	Error       json.RawMessage
}

type streamResponse struct {
	Model  string `json:"model"`
	Status string `json:"status"`
	Error  struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	IncompleteDetails struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct { // floating-point because some servers write 12.0
		Input   float64 `json:"input_tokens"`
		Output  float64 `json:"output_tokens"`
		Details struct {
			Cached  float64 `json:"cached_tokens"`
			Written float64 `json:"cache_write_tokens"`
		} `json:"input_tokens_details"`
		OutputDetails struct {
			Reasoning float64 `json:"reasoning_tokens"`
		} `json:"output_tokens_details"`
	} `json:"usage"`
}

// An outputItem is a completed item of an answer.
type outputItem struct {
	Type      string        `json:"type"`
	CallID    string        `json:"call_id"`
	Name      string        `json:"name"`
	Arguments string        `json:"arguments"`
	Content   []outputPiece `json:"content"`
	Summary   []outputPiece `json:"summary"`
}

type outputPiece struct {
	Type    string `json:"type"`
	Text    string `json:"text"`
	Refusal string `json:"refusal"`
}
