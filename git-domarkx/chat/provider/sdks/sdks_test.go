// Package sdks_test decodes, with the SDKs of the providers, what the server of the tests answers. It is a module of its own,
// because the SDKs take minutes to compile: "make test-sdks" runs it.
package sdks_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go"
	anthropicoption "github.com/anthropics/anthropic-sdk-go/option"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/responses"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider/providertest"
)

// reply is what the providers' SDKs decode below, so that the server of the
// tests answers as providers do.
var reply = providertest.Reply{Thought: "They want files.", Text: "Let me look. 😀", Calls: []providertest.Call{{Name: "ls", Arguments: `{"path":"/é"}`}},
	Usage: providertest.Usage{Input: 100, CacheRead: 40, CacheWrite: 7, Output: 20, Reasoning: 8}}

func TestAnthropicDecodes(t *testing.T) {
	s := providertest.New(t, reply)
	client := anthropic.NewMessageService(anthropicoption.WithBaseURL(s.URL), anthropicoption.WithAPIKey(providertest.Key), anthropicoption.WithMaxRetries(0))
	params := anthropic.MessageNewParams{Model: "m", MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("Well?"))}}
	var streamed anthropic.Message
	stream := client.NewStreaming(t.Context(), params)
	for stream.Next() {
		if err := streamed.Accumulate(stream.Current()); err != nil {
			t.Fatal(err)
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	m := streamed
	if len(m.Content) != 3 || m.Content[0].AsThinking().Thinking != reply.Thought || m.Content[0].Signature == "" || m.Content[1].AsText().Text != reply.Text ||
		m.Content[2].AsToolUse().Name != "ls" || m.StopReason != anthropic.StopReasonToolUse || m.Usage.OutputTokens != 20 || m.Usage.CacheReadInputTokens != 40 {
		t.Errorf("%+v", m)
	}
	var input struct{ Path string }
	if err := json.Unmarshal(m.Content[2].Input, &input); err != nil || input.Path != "/é" {
		t.Errorf("input %s: %v", m.Content[2].Input, err)
	}
}

func TestResponsesDecodes(t *testing.T) {
	s := providertest.New(t, reply)
	client := responses.NewResponseService(option.WithBaseURL(s.Base()), option.WithAPIKey(providertest.Key), option.WithMaxRetries(0))
	params := responses.ResponseNewParams{Model: "m", Store: openai.Bool(false),
		Input: responses.ResponseNewParamsInputUnion{OfInputItemList: responses.ResponseInputParam{responses.ResponseInputItemParamOfMessage("Well?", "user")}}}
	var streamed responses.Response
	var text strings.Builder
	stream := client.NewStreaming(t.Context(), params)
	for stream.Next() {
		switch e := stream.Current().AsAny().(type) {
		case responses.ResponseTextDeltaEvent:
			text.WriteString(e.Delta)
		case responses.ResponseCompletedEvent:
			streamed = e.Response
		}
	}
	if err := stream.Err(); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text.String(), "Let me look.") {
		t.Errorf("text %q", text.String())
	}
	r := streamed
	if len(r.Output) != 3 || r.Output[0].AsReasoning().Summary[0].Text != reply.Thought || r.Output[0].AsReasoning().EncryptedContent == "" ||
		r.OutputText() != reply.Text || r.Output[2].AsFunctionCall().Arguments != reply.Calls[0].Arguments ||
		r.Usage.InputTokens != 147 || r.Usage.OutputTokensDetails.ReasoningTokens != 8 {
		t.Errorf("%s", r.RawJSON())
	}
}

func TestChatDecodes(t *testing.T) {
	for name, gemini := range map[string]bool{"openai": false, "gemini": true} {
		t.Run(name, func(t *testing.T) {
			s := providertest.New(t, reply)
			base := s.Base()
			if gemini {
				base = s.Gemini()
			}
			client := openai.NewChatCompletionService(option.WithBaseURL(base), option.WithAPIKey(providertest.Key), option.WithMaxRetries(0))
			params := openai.ChatCompletionNewParams{Model: "m", Messages: []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Well?")}}
			var streamed openai.ChatCompletionAccumulator
			stream := client.NewStreaming(t.Context(), params)
			for stream.Next() {
				if !streamed.AddChunk(stream.Current()) {
					t.Fatalf("a chunk that does not fit: %s", stream.Current().RawJSON())
				}
			}
			if err := stream.Err(); err != nil {
				t.Fatal(err)
			}
			c := streamed.ChatCompletion
			m := c.Choices[0].Message
			if !strings.HasPrefix(m.Content, "Let me look.") || len(m.ToolCalls) != 1 || m.ToolCalls[0].Function.Arguments != reply.Calls[0].Arguments || c.Usage.PromptTokens < 140 {
				t.Errorf("%+v", c)
			}
		})
	}
}
