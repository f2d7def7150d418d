package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
)

// requestBody returns the body of a request. The SDK encodes everything but the raw items, which
// it would compact.
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
	// The cache holds a prefix of tools, system prompt and messages, in this order.
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

// cacheAnchors returns the messages that a cached prefix ends with: the last two of the user. The
// older one was the end of the previous request, so its prefix is in the cache already.
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

// textHeads are the beginnings of messages that consist of a text.
var textHeads = map[provider.Role]string{
	provider.User:      `{"role":"user","content":[{"type":"text","text":`,
	provider.Assistant: `{"role":"assistant","content":[{"type":"text","text":`,
}

func resultBlock(r provider.Result) sdk.ContentBlockParamUnion {
	block := sdk.ToolResultBlockParam{ToolUseID: r.CallID}
	if r.Text != "" { // an empty text block is refused
		block.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: r.Text}}}
	}
	if r.Failed {
		block.IsError = sdk.Bool(true)
	}
	return sdk.ContentBlockParamUnion{OfToolResult: &block}
}

// callIDs returns the ids of the tool_use blocks. Items that end with reasoning cannot be sent
// back: the provider requires what followed it.
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
