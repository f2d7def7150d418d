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

// Chat sends requests to one model by the Chat Completions API
// (https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create).
// It implements [provider.Wire].
type Chat struct{ provider.Endpoint }

// The names of wires: to OpenAI or a compatible server, and to Gemini's OpenAI-compatible endpoint.
const (
	Compatible = "openai-chat"
	Gemini     = "gemini"
)

// NewChat returns a wire to a model, with one of the names above. base must satisfy
// [provider.CheckURL] and end with the version, such as "/v1". timeout is the maximum time without
// a received byte.
func NewChat(name string, base *url.URL, model string, key provider.Key, timeout time.Duration) *Chat {
	return &Chat{provider.NewEndpoint(name, base, model, key, timeout)}
}

// Stream implements [provider.Wire].
func (w *Chat) Stream(ctx context.Context, r provider.Request, emit func(provider.Event)) (provider.Answer, error) {
	body, err := w.body(r)
	if err != nil {
		return provider.Answer{}, err
	}
	a := &chatAnswer{Stream: provider.NewStream(emit)}
	err = w.Ask(ctx, "chat/completions", w.Header("Authorization", "Bearer "), body, &a.Stream, a.event)
	if err == nil {
		err = a.complete()
	}
	return a.Finish(w.Origin(), err)
}

// openAIHost is the host whose newer models require max_completion_tokens. Other servers may only
// know the older max_tokens.
const openAIHost = "api.openai.com"

func (w *Chat) body(r provider.Request) ([]byte, error) {
	p := provider.Object{"model": w.Origin().Model, "stream": true, "stream_options": provider.Object{"include_usage": true}}
	switch {
	case r.MaxTokens > 0 && w.Origin().Host == openAIHost:
		p["max_completion_tokens"] = r.MaxTokens
	case r.MaxTokens > 0:
		p["max_tokens"] = r.MaxTokens
	}
	if r.Reasoning != "" {
		p["reasoning_effort"] = effort(r.Reasoning)
	}
	var tools []provider.Object
	for _, t := range r.Tools {
		tools = append(tools, provider.Object{"type": "function", "function": t.Function("parameters")})
		p["tools"] = tools
	}
	var messages [][]byte
	var errs error
	add := func(m provider.Object) {
		data, err := provider.Encode(m)
		messages, errs = append(messages, data), errors.Join(errs, err)
	}
	for _, text := range r.System {
		add(provider.Object{"role": "system", "content": text})
	}
	for _, m := range provider.Prepare(r, provider.Rules{Origin: w.Origin(), ValidID: validID, CallIDs: chatCallIDs}) {
		switch {
		case m.Raw != nil:
			messages = append(messages, m.Raw.Items...)
		case m.Role == provider.Assistant:
			add(w.assistant(m))
		default:
			addUser(m, add)
		}
	}
	if errs != nil {
		return nil, errs
	}
	return provider.Body(p, "messages", messages)
}

// noSignature is accepted by Gemini as the signature of a call that another model made
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
const noSignature = "skip_thought_signature_validator"

func (w *Chat) assistant(m provider.Message) provider.Object {
	var texts []string
	var calls []provider.Object
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Text:
			texts = append(texts, part.Text)
		case provider.Call:
			function := provider.Object{"name": part.Name, "arguments": part.Arguments}
			calls = append(calls, provider.Object{"id": part.ID, "type": "function", "function": function})
		}
	}
	if w.Origin().Provider == Gemini && len(calls) > 0 {
		calls[0]["extra_content"] = provider.Object{"google": provider.Object{"thought_signature": noSignature}}
	}
	o := provider.Object{"role": "assistant"}
	if len(texts) > 0 {
		o["content"] = strings.Join(texts, "\n\n")
	}
	if len(calls) > 0 {
		o["tool_calls"] = calls
	}
	return o
}

// addUser adds a message for each result, and one for all other parts.
func addUser(m provider.Message, add func(provider.Object)) {
	var texts []string
	var content []provider.Object
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Result:
			add(provider.Object{"role": "tool", "content": part.Text, "tool_call_id": part.CallID})
		case provider.Text:
			texts = append(texts, part.Text)
			content = append(content, provider.Object{"type": "text", "text": part.Text})
		case provider.Image:
			content = append(content, provider.Object{"type": "image_url", "image_url": provider.Object{"url": dataURL(part)}})
		}
	}
	switch {
	case len(content) == 0:
	case len(content) == len(texts): // every server accepts a plain string
		add(provider.Object{"role": "user", "content": strings.Join(texts, "\n\n")})
	default:
		add(provider.Object{"role": "user", "content": content})
	}
}

// chatCallIDs returns the ids of the calls in a raw message. ok is false if the arguments of a call
// are not JSON: such a message cannot be sent back.
func chatCallIDs(items [][]byte) (ids []string, ok bool) {
	for _, item := range items {
		var m struct {
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		}
		if json.Unmarshal(item, &m) != nil {
			return nil, false
		}
		for _, c := range m.ToolCalls {
			if !provider.IsObject(c.Function.Arguments) {
				return nil, false
			}
			ids = append(ids, c.ID)
		}
	}
	return ids, true
}
