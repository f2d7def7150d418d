package openai

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/shared"
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
	var res *http.Response
	service := sdk.NewChatCompletionService(w.options...)
	err = service.NewStreaming(ctx, sdk.ChatCompletionNewParams{}, with(body, &res)...).Err()
	if err := provider.Check(ctx, res, err, w.key); err != nil {
		return provider.Answer{}, err
	}
	defer res.Body.Close()
	a := &chatAnswer{collector: provider.NewCollector(emit), key: w.key}
	err = a.read(ctx, res)
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
	p := sdk.ChatCompletionNewParams{Model: w.origin.Model, Messages: []sdk.ChatCompletionMessageParamUnion{}}
	p.StreamOptions.IncludeUsage = sdk.Bool(true)
	switch {
	case r.MaxTokens > 0 && w.origin.Host == openAIHost:
		p.MaxCompletionTokens = sdk.Int(int64(r.MaxTokens))
	case r.MaxTokens > 0:
		p.MaxTokens = sdk.Int(int64(r.MaxTokens))
	}
	switch r.Reasoning {
	case provider.ReasoningOff:
		p.ReasoningEffort = shared.ReasoningEffortNone
	case provider.ReasoningLow, provider.ReasoningMedium, provider.ReasoningHigh:
		p.ReasoningEffort = shared.ReasoningEffort(r.Reasoning)
	}
	for _, t := range r.Tools {
		parameters, err := schema(t)
		if err != nil {
			return nil, err
		}
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: parameters}
		if t.Description != "" {
			f.Description = sdk.String(t.Description)
		}
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(f))
	}
	body, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	prepared := provider.Prepare(r, provider.Rules{Origin: w.origin, ValidID: validID, CallIDs: chatCallIDs})
	messages, err := provider.NewArray(body, "messages", provider.SizeOf(prepared))
	if err != nil {
		return nil, err
	}
	for _, text := range r.System {
		if err := messages.Marshal(sdk.SystemMessage(text)); err != nil {
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

// textHeads are the beginnings of the JSON of messages that consist of one text.
var textHeads = map[provider.Role]string{
	provider.User:      `{"role":"user","content":`,
	provider.Assistant: `{"role":"assistant","content":`,
}

func (w *Chat) addMessage(messages *provider.Array, m provider.Message) error {
	if text, ok := provider.OnlyText(m); ok {
		messages.Text(textHeads[m.Role], text, `}`)
		return nil
	}
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

func (w *Chat) assistant(m provider.Message) sdk.ChatCompletionMessageParamUnion {
	a := sdk.ChatCompletionAssistantMessageParam{}
	text := ""
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Text:
			if text != "" {
				text += "\n\n"
			}
			text += part.Text
		case provider.Call:
			call := sdk.ChatCompletionMessageFunctionToolCallParam{ID: part.ID,
				Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: part.Name, Arguments: part.Arguments}}
			if w.gemini && len(a.ToolCalls) == 0 {
				call.SetExtraFields(map[string]any{"extra_content": map[string]any{"google": map[string]any{"thought_signature": noSignature}}})
			}
			a.ToolCalls = append(a.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{OfFunction: &call})
		}
	}
	if text != "" {
		a.Content.OfString = sdk.String(text)
	}
	return sdk.ChatCompletionMessageParamUnion{OfAssistant: &a}
}

// userMessages returns a message for each result, and one for all other parts.
func userMessages(m provider.Message) []sdk.ChatCompletionMessageParamUnion {
	var messages []sdk.ChatCompletionMessageParamUnion
	var content []sdk.ChatCompletionContentPartUnionParam
	text, plain := "", true
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Result:
			messages = append(messages, sdk.ToolMessage(part.Text, part.CallID))
		case provider.Text:
			content = append(content, sdk.TextContentPart(part.Text))
			if text != "" {
				text += "\n\n"
			}
			text += part.Text
		case provider.Image:
			plain = false
			content = append(content, sdk.ImageContentPart(sdk.ChatCompletionContentPartImageImageURLParam{URL: dataURL(part)}))
		}
	}
	switch {
	case len(content) == 0:
	case plain: // every server accepts a plain string
		messages = append(messages, sdk.UserMessage(text))
	default:
		messages = append(messages, sdk.UserMessage(content))
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
