package anthropic

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// requestBody returns the JSON body of a request, with raw items as they were received
// (https://docs.claude.com/en/api/messages).
func requestBody(o provider.Origin, r provider.Request, form thinkingForm) ([]byte, error) {
	prepared := provider.Prepare(r, provider.Rules{Origin: o, ValidID: validID, CallIDs: callIDs})
	p := provider.Object{"model": o.Model, "max_tokens": cmp.Or(r.MaxTokens, defaultMaxTokens), "stream": true}
	setThinking(p, r, form, prepared)
	// The provider caches prefixes of a request, in the order of tools, system prompt and messages.
	var last provider.Object
	var tools, system []provider.Object
	for _, t := range r.Tools {
		last = t.Function("input_schema")
		tools = append(tools, last)
		p["tools"] = tools
	}
	for _, text := range r.System {
		last = provider.Object{"type": "text", "text": text}
		system = append(system, last)
		p["system"] = system
	}
	if last != nil {
		last["cache_control"] = ephemeral()
	}
	anchors := cacheAnchors(prepared)
	var messages [][]byte
	for i, m := range prepared {
		message, err := encode(m, slices.Contains(anchors, i))
		if err != nil {
			return nil, err
		}
		messages = append(messages, message)
	}
	return provider.Body(p, "messages", messages)
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

// encode returns the JSON of a message.
func encode(m provider.Message, anchor bool) ([]byte, error) {
	if m.Raw != nil {
		return provider.Body(provider.Object{"role": "assistant"}, "content", m.Raw.Items)
	}
	var blocks []provider.Object
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Text:
			blocks = append(blocks, provider.Object{"type": "text", "text": part.Text})
		case provider.Image:
			source := provider.Object{"type": "base64", "media_type": part.MediaType, "data": part.Data}
			blocks = append(blocks, provider.Object{"type": "image", "source": source})
		case provider.Call:
			input := json.RawMessage(part.Arguments)
			blocks = append(blocks, provider.Object{"type": "tool_use", "id": part.ID, "name": part.Name, "input": input})
		case provider.Result:
			block := provider.Object{"type": "tool_result", "tool_use_id": part.CallID, "is_error": part.Failed}
			if part.Text != "" { // the provider refuses an empty text block
				block["content"] = []provider.Object{{"type": "text", "text": part.Text}}
			}
			blocks = append(blocks, block)
		}
	}
	if n := len(blocks); anchor && n > 0 {
		blocks[n-1]["cache_control"] = ephemeral()
	}
	return provider.Encode(provider.Object{"role": m.Role, "content": blocks})
}

func ephemeral() provider.Object { return provider.Object{"type": "ephemeral"} }

func validID(id string) bool { return provider.IsName(id, 128) }

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
