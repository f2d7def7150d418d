package openai

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// Chat sends requests to one model by the Chat Completions API. It implements [provider.Wire].
type Chat struct {
	wire
	gemini bool
}

// NewChat returns a wire to a model of OpenAI or a compatible server. base must satisfy
// [provider.CheckURL] and end with the version, such as "/v1". timeout is the maximum time without
// a received byte.
func NewChat(base *url.URL, model string, key provider.Key, timeout time.Duration) *Chat {
	return &Chat{wire: newWire("openai-chat", base, model, key, timeout)}
}

// NewGemini is like [NewChat], for Gemini's OpenAI-compatible endpoint.
func NewGemini(base *url.URL, model string, key provider.Key, timeout time.Duration) *Chat {
	return &Chat{wire: newWire("gemini", base, model, key, timeout), gemini: true}
}

// Stream implements [provider.Wire].
func (w *Chat) Stream(ctx context.Context, r provider.Request, emit func(provider.Event)) (provider.Answer, error) {
	body, err := w.body(r)
	if err != nil {
		return provider.Answer{}, err
	}
	res, err := w.post(ctx, "chat/completions", body)
	if err != nil {
		return provider.Answer{}, err
	}
	defer res.Body.Close()
	a := &chatAnswer{collector: provider.NewCollector(emit), key: w.key}
	err = provider.ReadEvents(ctx, res, w.key, a.chunk, &a.done, &a.mayEnd)
	var items [][]byte
	if err == nil {
		items, err = a.message()
	}
	return a.collector.Finish(w.origin, items, err)
}

// openAIHost is the host whose newer models require max_completion_tokens. Other servers may only
// know the older max_tokens.
const openAIHost = "api.openai.com"

func (w *Chat) body(r provider.Request) ([]byte, error) {
	p := chatRequest{Model: w.origin.Model, Stream: true, StreamOptions: streamOptions{IncludeUsage: true}}
	switch {
	case r.MaxTokens > 0 && w.origin.Host == openAIHost:
		p.MaxCompletionTokens = r.MaxTokens
	case r.MaxTokens > 0:
		p.MaxTokens = r.MaxTokens
	}
	p.ReasoningEffort = effort(r.Reasoning)
	for _, t := range r.Tools {
		parameters, err := schema(t)
		if err != nil {
			return nil, err
		}
		p.Tools = append(p.Tools, chatTool{"function", chatFunction{t.Name, t.Description, parameters}})
	}
	prepared := provider.Prepare(r, provider.Rules{Origin: w.origin, ValidID: validID, CallIDs: chatCallIDs})
	messages, err := provider.NewArray(p, "messages", provider.SizeOf(prepared))
	if err != nil {
		return nil, err
	}
	for _, text := range r.System {
		if err := messages.Marshal(chatMessage{Role: "system", Content: text}); err != nil {
			return nil, err
		}
	}
	for _, m := range prepared {
		if err := w.addMessage(messages, m); err != nil {
			return nil, err
		}
	}
	return messages.Object(), nil
}

func (w *Chat) addMessage(messages *provider.Array, m provider.Message) error {
	switch {
	case m.Raw != nil:
		messages.Add(m.Raw.Items...)
	case m.Role == provider.Assistant:
		return messages.Marshal(w.assistant(m))
	default:
		for _, u := range userMessages(m) {
			if err := messages.Marshal(u); err != nil {
				return err
			}
		}
	}
	return nil
}

// noSignature is accepted by Gemini as the signature of a call that another model made
// (https://ai.google.dev/gemini-api/docs/thought-signatures).
const noSignature = "skip_thought_signature_validator"

func (w *Chat) assistant(m provider.Message) chatMessage {
	a := chatMessage{Role: "assistant"}
	text := ""
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Text:
			if text != "" {
				text += "\n\n"
			}
			text += part.Text
		case provider.Call:
			call := chatToolCall{ID: part.ID, Type: "function", Function: chatCalled{part.Name, part.Arguments}}
			if w.gemini && len(a.ToolCalls) == 0 {
				call.Extra = json.RawMessage(`{"google":{"thought_signature":"` + noSignature + `"}}`)
			}
			a.ToolCalls = append(a.ToolCalls, call)
		}
	}
	if text != "" {
		a.Content = text
	}
	return a
}

// userMessages returns a message for each result, and one for all other parts.
func userMessages(m provider.Message) []chatMessage {
	var messages []chatMessage
	var content []chatPart
	text, plain := "", true
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Result:
			messages = append(messages, chatMessage{Role: "tool", Content: part.Text, ToolCallID: part.CallID})
		case provider.Text:
			content = append(content, chatPart{Type: "text", Text: &part.Text})
			if text != "" {
				text += "\n\n"
			}
			text += part.Text
		case provider.Image:
			plain = false
			content = append(content, chatPart{Type: "image_url", ImageURL: &chatImage{dataURL(part)}})
		}
	}
	switch {
	case len(content) == 0:
	case plain: // every server accepts a plain string
		messages = append(messages, chatMessage{Role: "user", Content: text})
	default:
		messages = append(messages, chatMessage{Role: "user", Content: content})
	}
	return messages
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
