package providertest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// chat is the Chat Completions API of OpenAI
// (https://developers.openai.com/api/reference/resources/chat), or Gemini's variant of it
// (https://ai.google.dev/gemini-api/docs/openai).
type chat struct{ gemini bool }

func (c chat) failure(status int, message string) string {
	if !c.gemini {
		return openaiFailure(status, message)
	}
	name := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
	if name == "" {
		name = "INTERNAL"
	}
	return fmt.Sprintf(`[{"error":{"code":%d,"message":%q,"status":%q}}]`, status, message, name)
}

func (chat) overloaded() event {
	return event{"", `{"error":{"code":503,"message":"The model is overloaded.","type":"server_error"}}`}
}

type chatMessage struct {
	Role       string
	Content    json.RawMessage
	ToolCallID string            `json:"tool_call_id"`
	ToolCalls  []json.RawMessage `json:"tool_calls"`
}

type chatCall struct {
	ID, Type string
	Function struct{ Name, Arguments string }
	Extra    struct {
		Google struct {
			Signature string `json:"thought_signature"`
		}
	} `json:"extra_content"`
}

func (c chat) check(s *Server, body []byte) string {
	var r struct {
		Model    string            `json:"model"`
		Messages []json.RawMessage `json:"messages"`
		Stream   bool              `json:"stream"`
		Options  *struct {
			Usage bool `json:"include_usage"`
		} `json:"stream_options"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return "invalid JSON: " + err.Error()
	}
	if r.Model == "" || len(r.Messages) == 0 {
		return "Missing required parameter: 'model' or 'messages'."
	}
	if r.Options != nil && !r.Stream {
		return "The 'stream_options' parameter is only allowed when 'stream' is enabled."
	}
	open := map[string]bool{}
	for i, raw := range r.Messages {
		var m chatMessage
		if err := json.Unmarshal(raw, &m); err != nil {
			return fmt.Sprintf("messages[%d]: %v", i, err)
		}
		if s.issued.changed(raw) {
			return fmt.Sprintf("messages[%d]: the message or its thought signature was changed", i)
		}
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Sprintf("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %v", open)
		}
		switch m.Role {
		case "system", "user":
			if len(m.Content) < 3 {
				return fmt.Sprintf("Invalid value for 'messages[%d].content'", i)
			}
		case "assistant":
			if reason := c.checkCalls(s, r.Model, i, m, open); reason != "" {
				return reason
			}
		case "tool":
			if !open[m.ToolCallID] {
				return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'. tool_call_id " + m.ToolCallID
			}
			delete(open, m.ToolCallID)
		default:
			return fmt.Sprintf("Invalid value: %q for messages[%d].role", m.Role, i)
		}
	}
	if len(open) > 0 {
		return fmt.Sprintf("An assistant message with 'tool_calls' must be followed by tool messages: %v", open)
	}
	return ""
}

func (c chat) checkCalls(s *Server, model string, i int, m chatMessage, open map[string]bool) string {
	if len(m.ToolCalls) == 0 && len(m.Content) < 3 {
		return fmt.Sprintf("Invalid value for 'messages[%d].content'", i)
	}
	for j, raw := range m.ToolCalls {
		var call chatCall
		if err := json.Unmarshal(raw, &call); err != nil {
			return fmt.Sprintf("messages[%d].tool_calls[%d]: %v", i, j, err)
		}
		if call.ID == "" || len(call.ID) > 40 || call.Type != "function" || !toolName.MatchString(call.Function.Name) || !json.Valid([]byte(call.Function.Arguments)) {
			return fmt.Sprintf("Invalid 'messages[%d].tool_calls[%d]': id, name or arguments", i, j)
		}
		if open[call.ID] {
			return "Duplicate tool_call id " + call.ID
		}
		open[call.ID] = true
		signature := call.Extra.Google.Signature
		switch {
		case !c.gemini && signature != "":
			return "Unrecognized request argument supplied: extra_content"
		case !c.gemini:
		case signature == "" && j == 0:
			return fmt.Sprintf("Function call is missing a thought_signature in functionCall parts. Additional data, function call `%s`, position %d.", call.Function.Name, i)
		case signature != "" && signature != "skip_thought_signature_validator" && signature != s.issued.sign("gemini", model, call.ID, call.Function.Name, call.Function.Arguments):
			return "Corrupted thought signature."
		}
	}
	return ""
}

func (c chat) answer(s *Server, model string, r Reply) []event {
	s.issued.n++
	n := s.issued.n
	var events []event
	add := func(delta, finish string) {
		events = append(events, event{"", fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1,"model":%q,"choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, n, model, delta, finish)})
	}
	members := []string{`"role":"assistant"`, unknown}
	add(`{"role":"assistant",`+unknown+`}`, "null")
	if r.Thought != "" && !c.gemini {
		for _, d := range deltas(r.Thought) {
			add(`{"reasoning_content":"`+d+`"}`, "null")
		}
		members = append(members, `"reasoning_content":`+quote(r.Thought))
	}
	if r.Text != "" {
		member := "content"
		if r.Refusal {
			member = "refusal"
		}
		for _, d := range deltas(r.Text) {
			add(`{"`+member+`":"`+d+`"}`, "null")
		}
		members = append(members, `"`+member+`":`+quote(r.Text))
	} else {
		add(`{"content":null}`, "null")
		members = append(members, `"content":null`)
	}
	var calls []string
	for k, call := range r.Calls {
		id := fmt.Sprintf("call_%d_%d", n, k)
		extra := unknown
		if c.gemini && k == 0 {
			extra = `"extra_content":{"google": {"thought_signature": "` + s.issued.sign("gemini", model, id, call.Name, call.Arguments) + `"}},` + unknown
		}
		head := fmt.Sprintf(`"id":%q,"type":"function",`, id)
		calls = append(calls, `{`+head+`"function":{"name":"`+call.Name+`","arguments":`+quote(call.Arguments)+`},`+extra+`}`)
		if c.gemini { // complete, and always with the index 0
			add(`{"tool_calls":[{"index":0,`+head+`"function":{"name":"`+call.Name+`","arguments":`+quote(call.Arguments)+`},`+extra+`}]}`, "null")
			continue
		}
		add(fmt.Sprintf(`{"tool_calls":[{"index":%d,%s"function":{"name":%q,"arguments":""},%s}]}`, k, head, call.Name, extra), "null")
		for _, d := range deltas(call.Arguments) {
			add(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":"%s"}}]}`, k, d), "null")
		}
	}
	if len(calls) > 0 {
		members = append(members, `"tool_calls":[`+strings.Join(calls, ",")+`]`)
	}
	finish := "stop"
	switch {
	case r.Cut:
		finish = "length"
	case len(r.Calls) > 0 && !c.gemini:
		finish = "tool_calls"
	}
	s.issued.keep(`{` + strings.Join(members, ",") + `}`)
	add(`{}`, `"`+finish+`"`)
	return append(events, event{"", fmt.Sprintf(`{"id":"chatcmpl-%d","object":"chat.completion.chunk","created":1,"model":%q,"choices":[],"usage":%s}`, n, model, c.usage(r.Usage))}, event{"", "[DONE]"})
}

// usage returns the tokens as the provider counts them: Gemini's completion_tokens exclude
// reasoning.
func (c chat) usage(u Usage) string {
	input := u.Input + u.CacheRead + u.CacheWrite
	if c.gemini {
		return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
			u.Input+u.CacheRead, u.Output-u.Reasoning, u.Input+u.CacheRead+u.Output, u.CacheRead)
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"completion_tokens_details":{"reasoning_tokens":%d}}`,
		input, u.Output, input+u.Output, u.CacheRead, u.CacheWrite, u.Reasoning)
}
