package anthropic

import (
	"encoding/json"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// requestBody returns the JSON body of a request, with raw items as they were received.
func requestBody(o provider.Origin, r provider.Request, form thinkingForm) ([]byte, error) {
	prepared := provider.Prepare(r, rules(o))
	anchors := cacheAnchors(prepared)
	p := request{Model: o.Model, MaxTokens: defaultMaxTokens, Stream: true}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	}
	setThinking(&p, r, form, prepared)
	for _, text := range r.System {
		p.System = append(p.System, contentBlock{Type: "text", Text: &text})
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: t.Schema})
	}
	// The provider caches prefixes of a request, in the order of tools, system prompt and messages.
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = ephemeral
	} else if n := len(p.Tools); n > 0 {
		p.Tools[n-1].CacheControl = ephemeral
	}
	messages, err := provider.NewArray(p, "messages", provider.SizeOf(prepared))
	if err != nil {
		return nil, err
	}
	for i, m := range prepared {
		if err := addMessage(messages, m, slices.Contains(anchors, i)); err != nil {
			return nil, err
		}
	}
	return messages.Object(), nil
}

// cacheAnchors returns the indexes of the messages at which a cached prefix ends: the last two of
// the user. The previous request ended with the older one, so its prefix is already in the cache.
func cacheAnchors(messages []provider.Message) []int {
	var anchors []int
	for i := len(messages) - 1; i >= 0 && len(anchors) < 2; i-- {
		if messages[i].Role == provider.User {
			anchors = append(anchors, i)
		}
	}
	return anchors
}

func addMessage(messages *provider.Array, m provider.Message, anchor bool) error {
	if m.Raw != nil {
		messages.Items(`{"role":"assistant","content":[`, m.Raw.Items, `]}`)
		return nil
	}
	var blocks []contentBlock
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Text:
			blocks = append(blocks, contentBlock{Type: "text", Text: &part.Text})
		case provider.Image:
			blocks = append(blocks, contentBlock{Type: "image", Source: &imageSource{"base64", part.MediaType, part.Data}})
		case provider.Call:
			blocks = append(blocks, contentBlock{Type: "tool_use", ID: part.ID, Name: part.Name, Input: json.RawMessage(part.Arguments)})
		case provider.Result:
			blocks = append(blocks, resultBlock(part))
		}
	}
	if n := len(blocks); anchor && n > 0 {
		blocks[n-1].CacheControl = ephemeral
	}
	return messages.Marshal(message{Role: string(m.Role), Content: blocks})
}

func resultBlock(r provider.Result) contentBlock {
	block := contentBlock{Type: "tool_result", ToolUseID: r.CallID, IsError: r.Failed}
	if r.Text != "" { // the provider refuses an empty text block
		block.Content = []contentBlock{{Type: "text", Text: &r.Text}}
	}
	return block
}

// callIDs returns the ids of the tool_use blocks in raw items. ok is false if the items end with
// reasoning: they cannot be sent back, because the provider requires the block that followed.
func callIDs(items [][]byte) (ids []string, ok bool) {
	last := ""
	for _, item := range items {
		var block struct{ Type, ID string }
		if json.Unmarshal(item, &block) != nil {
			return nil, false
		}
		if last = block.Type; last == "tool_use" {
			ids = append(ids, block.ID)
		}
	}
	return ids, last != "thinking" && last != "redacted_thinking"
}

// version is the version of the API (https://docs.claude.com/en/api/versioning).
const version = "2023-06-01"

// A request is the body of a request, without its messages (https://docs.claude.com/en/api/messages).
type request struct {
	Model        string         `json:"model"`
	MaxTokens    int64          `json:"max_tokens"`
	System       []contentBlock `json:"system,omitempty"`
	Tools        []tool         `json:"tools,omitempty"`
	Thinking     *thinking      `json:"thinking,omitempty"`
	OutputConfig *outputConfig  `json:"output_config,omitempty"`
	Stream       bool           `json:"stream"`
}

type tool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"input_schema"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type thinking struct {
	Type    string `json:"type"`
	Budget  int64  `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type outputConfig struct {
	Effort provider.Reasoning `json:"effort"`
}

type message struct {
	Role    string         `json:"role"`
	Content []contentBlock `json:"content"`
}

// A contentBlock is a block of any type, with the members of that type.
type contentBlock struct {
	Type         string          `json:"type"`
	Text         *string         `json:"text,omitempty"`
	Source       *imageSource    `json:"source,omitempty"`
	ID           string          `json:"id,omitempty"`
	Name         string          `json:"name,omitempty"`
	Input        json.RawMessage `json:"input,omitempty"`
	ToolUseID    string          `json:"tool_use_id,omitempty"`
	Content      []contentBlock  `json:"content,omitempty"`
	IsError      bool            `json:"is_error,omitempty"`
	CacheControl *cacheControl   `json:"cache_control,omitempty"`
}

type imageSource struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
}

var ephemeral = &cacheControl{"ephemeral"}
