package openai

import (
	"encoding/json"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// A chatRequest is the body of a request by the Chat Completions API, without its messages
// (https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create).
type chatRequest struct {
	Model               string        `json:"model"`
	MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
	MaxTokens           int           `json:"max_tokens,omitempty"`
	ReasoningEffort     string        `json:"reasoning_effort,omitempty"`
	StreamOptions       streamOptions `json:"stream_options"`
	Tools               []chatTool    `json:"tools,omitempty"`
	Stream              bool          `json:"stream"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type chatTool struct {
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name        string                     `json:"name"`
	Description string                     `json:"description,omitempty"`
	Parameters  map[string]json.RawMessage `json:"parameters"`
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    any            `json:"content,omitempty"` // a string or []chatPart
	ToolCalls  []chatToolCall `json:"tool_calls,omitempty"`
	ToolCallID string         `json:"tool_call_id,omitempty"`
}

type chatPart struct {
	Type     string     `json:"type"`
	Text     *string    `json:"text,omitempty"`
	ImageURL *chatImage `json:"image_url,omitempty"`
}

type chatImage struct {
	URL string `json:"url"`
}

type chatToolCall struct {
	ID       string          `json:"id"`
	Type     string          `json:"type"`
	Function chatCalled      `json:"function"`
	Extra    json.RawMessage `json:"extra_content,omitempty"`
}

type chatCalled struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// effort returns the name of an effort in both APIs, or "" for the model's own.
func effort(r provider.Reasoning) string {
	switch r {
	case provider.ReasoningOff:
		return "none"
	case provider.ReasoningLow, provider.ReasoningMedium, provider.ReasoningHigh:
		return string(r)
	}
	return ""
}
