package openai

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Responses sends requests to one model by the Responses API
// (https://developers.openai.com/api/reference/resources/responses/methods/create). It implements [provider.Wire].
type Responses struct{ provider.Endpoint }

// NewResponses returns a wire to a model by the Responses API. base must satisfy
// [provider.CheckURL] and end with the version, such as "/v1". timeout is the maximum time without
// a received byte.
func NewResponses(base *url.URL, model string, key provider.Key, timeout time.Duration) *Responses {
	return &Responses{provider.NewEndpoint("openai", base, model, key, timeout)}
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
	a := &responsesAnswer{Stream: provider.NewStream(emit), shown: map[int64]int{}}
	err = w.Ask(ctx, "responses", w.Header("Authorization", "Bearer "), body, &a.Stream, a.event)
	return a.Finish(w.Origin(), err)
}

func (w *Responses) body(r provider.Request, encrypted bool) ([]byte, error) {
	p := provider.Object{"model": w.Origin().Model, "store": false, "stream": true}
	if len(r.System) > 0 {
		p["instructions"] = strings.Join(r.System, "\n\n")
	}
	if r.MaxTokens > 0 {
		p["max_output_tokens"] = r.MaxTokens
	}
	if encrypted {
		p["include"] = []string{"reasoning.encrypted_content"}
	}
	switch r.Reasoning {
	case "":
	case provider.ReasoningOff:
		p["reasoning"] = provider.Object{"effort": effort(r.Reasoning)}
	default:
		p["reasoning"] = provider.Object{"effort": effort(r.Reasoning), "summary": "auto"}
	}
	var tools []provider.Object
	for _, t := range r.Tools {
		o := t.Function("parameters")
		o["type"], o["strict"] = "function", false
		tools = append(tools, o)
		p["tools"] = tools
	}
	var input [][]byte
	for _, m := range provider.Prepare(r, provider.Rules{Origin: w.Origin(), ValidID: validID, CallIDs: responsesCallIDs}) {
		if m.Raw != nil {
			input = append(input, m.Raw.Items...)
			continue
		}
		for _, item := range items(m) {
			data, err := provider.Encode(item)
			if err != nil {
				return nil, err
			}
			input = append(input, data)
		}
	}
	return provider.Body(p, "input", input)
}

// items returns the items of a message.
func items(m provider.Message) []provider.Object {
	var items, content []provider.Object
	flush := func() {
		if len(content) > 0 {
			items = append(items, provider.Object{"type": "message", "role": m.Role, "content": content})
			content = nil
		}
	}
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Text:
			if m.Role == provider.Assistant { // not the short form with a string, which some servers do not accept
				content = append(content, provider.Object{"type": "output_text", "text": part.Text})
				flush()
				continue
			}
			content = append(content, provider.Object{"type": "input_text", "text": part.Text})
		case provider.Image:
			content = append(content, provider.Object{"type": "input_image", "detail": "auto", "image_url": dataURL(part)})
		case provider.Call:
			items = append(items, provider.Object{"type": "function_call", "call_id": part.ID, "name": part.Name, "arguments": part.Arguments})
		case provider.Result:
			flush()
			items = append(items, provider.Object{"type": "function_call_output", "call_id": part.CallID, "output": part.Text})
		}
	}
	flush()
	return items
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
