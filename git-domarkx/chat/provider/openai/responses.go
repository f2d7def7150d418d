package openai

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Responses sends requests to one model by the Responses API. It implements [provider.Wire].
type Responses struct{ wire }

// NewResponses returns a wire to a model by the Responses API. base must satisfy
// [provider.CheckURL] and end with the version, such as "/v1". timeout is the maximum time without
// a received byte.
func NewResponses(base *url.URL, model string, key provider.Key, timeout time.Duration) *Responses {
	return &Responses{newWire("openai", base, model, key, timeout)}
}

// Stream implements [provider.Wire]. The provider stores nothing, so Stream requests encrypted
// reasoning to send back. Models without reasoning refuse that; Stream then asks again without it.
func (w *Responses) Stream(ctx context.Context, r provider.Request, emit func(provider.Event)) (provider.Answer, error) {
	answer, err := w.stream(ctx, r, r.Reasoning != provider.ReasoningOff, emit)
	var e *provider.Error
	if errors.As(err, &e) && e.Status == 400 && strings.Contains(strings.ToLower(e.Message), "encrypted content is not supported") {
		return w.stream(ctx, r, false, emit)
	}
	return answer, err
}

func (w *Responses) stream(ctx context.Context, r provider.Request, encrypted bool, emit func(provider.Event)) (provider.Answer, error) {
	body, err := w.body(r, encrypted)
	if err != nil {
		return provider.Answer{}, err
	}
	res, err := w.post(ctx, "responses", body)
	if err != nil {
		return provider.Answer{}, err
	}
	defer res.Body.Close()
	a := &responsesAnswer{collector: provider.NewCollector(emit), key: w.key, shown: map[int64]int{}}
	err = provider.ReadEvents(ctx, res, w.key, a.event, &a.done, &a.done)
	return a.collector.Finish(w.origin, a.items, err)
}

func (w *Responses) body(r provider.Request, encrypted bool) ([]byte, error) {
	p := responsesRequest{Model: w.origin.Model, MaxOutputTokens: r.MaxTokens, Instructions: strings.Join(r.System, "\n\n"), Stream: true}
	if encrypted {
		p.Include = []string{"reasoning.encrypted_content"}
	}
	if name := effort(r.Reasoning); name != "" {
		p.Reasoning = &reasoning{Effort: name}
		if r.Reasoning != provider.ReasoningOff {
			p.Reasoning.Summary = "auto"
		}
	}
	for _, t := range r.Tools {
		parameters, err := schema(t)
		if err != nil {
			return nil, err
		}
		p.Tools = append(p.Tools, responsesTool{Type: "function", Name: t.Name, Description: t.Description, Parameters: parameters})
	}
	prepared := provider.Prepare(r, provider.Rules{Origin: w.origin, ValidID: validID, CallIDs: responsesCallIDs})
	input, err := provider.NewArray(p, "input", provider.SizeOf(prepared))
	if err != nil {
		return nil, err
	}
	for _, m := range prepared {
		if err := addItems(input, m); err != nil {
			return nil, err
		}
	}
	return input.Object(), nil
}

// addItems appends the items of a message to the input.
func addItems(input *provider.Array, m provider.Message) error {
	if m.Raw != nil {
		input.Add(m.Raw.Items...)
		return nil
	}
	var items []inputItem
	var content []inputContent
	flush := func() {
		if len(content) > 0 {
			items = append(items, inputItem{Type: "message", Role: string(m.Role), Content: content})
			content = nil
		}
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Text:
			if m.Role == provider.Assistant { // not the short form with a string, which some servers do not accept
				items = append(items, inputItem{Type: "message", Role: "assistant", Content: []inputContent{{Type: "output_text", Text: &part.Text}}})
				continue
			}
			content = append(content, inputContent{Type: "input_text", Text: &part.Text})
		case provider.Image:
			content = append(content, inputContent{Type: "input_image", Detail: "auto", ImageURL: dataURL(part)})
		case provider.Call:
			items = append(items, inputItem{Type: "function_call", CallID: part.ID, Name: part.Name, Arguments: &part.Arguments})
		case provider.Result:
			flush()
			items = append(items, inputItem{Type: "function_call_output", CallID: part.CallID, Output: &part.Text})
		}
	}
	flush()
	for _, item := range items {
		if err := input.Marshal(item); err != nil {
			return err
		}
	}
	return nil
}

func dataURL(i provider.Image) string {
	return "data:" + i.MediaType + ";base64," + base64.StdEncoding.EncodeToString(i.Data)
}

// responsesCallIDs returns the ids of the function_call items. ok is false if the last item is
// reasoning, or reasoning has no encrypted content: then the items cannot be sent back, because the
// provider does not store them.
func responsesCallIDs(items [][]byte) (ids []string, ok bool) {
	last := ""
	for _, item := range items {
		var i struct {
			Type      string `json:"type"`
			CallID    string `json:"call_id"`
			Arguments string `json:"arguments"`
			Encrypted string `json:"encrypted_content"`
		}
		if json.Unmarshal(item, &i) != nil {
			return nil, false
		}
		switch last = i.Type; last {
		case "function_call":
			if !provider.IsObject(i.Arguments) {
				return nil, false
			}
			ids = append(ids, i.CallID)
		case "reasoning":
			if i.Encrypted == "" {
				return nil, false
			}
		}
	}
	return ids, last != "reasoning"
}
