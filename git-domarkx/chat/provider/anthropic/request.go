package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// requestBody returns the JSON body of a request. Raw items are not encoded by the SDK, which would
// remove their white space.
func requestBody(o provider.Origin, r provider.Request, form thinkingForm) ([]byte, error) {
	prepared := provider.Prepare(r, rules(o))
	anchors := cacheAnchors(prepared)
	p := sdk.MessageNewParams{Model: sdk.Model(o.Model), MaxTokens: defaultMaxTokens, Messages: []sdk.MessageParam{}}
	if r.MaxTokens > 0 {
		p.MaxTokens = int64(r.MaxTokens)
	}
	setThinking(&p, r, form, prepared)
	for _, text := range r.System {
		p.System = append(p.System, sdk.TextBlockParam{Text: text})
	}
	for _, t := range r.Tools {
		tool := sdk.ToolParam{Name: t.Name, InputSchema: param.Override[sdk.ToolInputSchemaParam](json.RawMessage(t.Schema))}
		if t.Description != "" {
			tool.Description = sdk.String(t.Description)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &tool})
	}
	// The provider caches prefixes of a request, in the order of tools, system prompt and messages.
	if n := len(p.System); n > 0 {
		p.System[n-1].CacheControl = sdk.NewCacheControlEphemeralParam()
	} else if n := len(p.Tools); n > 0 {
		p.Tools[n-1].OfTool.CacheControl = sdk.NewCacheControlEphemeralParam()
	}
	body, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	messages, err := provider.NewArray(body, "messages", provider.SizeOf(prepared))
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
	if text, ok := provider.OnlyText(m); ok && !anchor {
		messages.Text(textHeads[m.Role], text, `}]}`)
		return nil
	}
	var blocks []sdk.ContentBlockParamUnion
	for _, part := range m.Parts {
		switch part := part.(type) {
		case provider.Text:
			blocks = append(blocks, sdk.NewTextBlock(part.Text))
		case provider.Image:
			blocks = append(blocks, sdk.NewImageBlockBase64(part.MediaType, base64.StdEncoding.EncodeToString(part.Data)))
		case provider.Call:
			blocks = append(blocks, sdk.NewToolUseBlock(part.ID, json.RawMessage(part.Arguments), part.Name))
		case provider.Result:
			blocks = append(blocks, resultBlock(part))
		}
	}
	if n := len(blocks); anchor && n > 0 {
		if c := blocks[n-1].GetCacheControl(); c != nil {
			*c = sdk.NewCacheControlEphemeralParam()
		}
	}
	return messages.Marshal(sdk.MessageParam{Role: sdk.MessageParamRole(m.Role), Content: blocks})
}

// textHeads are the beginnings of the JSON of messages that consist of one text.
var textHeads = map[provider.Role]string{
	provider.User:      `{"role":"user","content":[{"type":"text","text":`,
	provider.Assistant: `{"role":"assistant","content":[{"type":"text","text":`,
}

func resultBlock(r provider.Result) sdk.ContentBlockParamUnion {
	block := sdk.ToolResultBlockParam{ToolUseID: r.CallID}
	if r.Text != "" { // the provider refuses an empty text block
		block.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: r.Text}}}
	}
	if r.Failed {
		block.IsError = sdk.Bool(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &block}
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
