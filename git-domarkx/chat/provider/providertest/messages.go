package providertest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// messages is Anthropic's Messages API (https://platform.claude.com/docs/en/api/messages).
type messages struct{}

func (messages) failure(status int, message string) string {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error"}[status]
	if kind == "" {
		kind = "api_error"
	}
	return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
}

func (messages) overloaded() event {
	return event{"error", `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`}
}

type messagesRequest struct {
	Model     string `json:"model"`
	MaxTokens int    `json:"max_tokens"`
	Stream    bool   `json:"stream"`
	System    []struct {
		Type, Text string
		Cache      json.RawMessage `json:"cache_control"`
	} `json:"system"`
	Messages []struct {
		Role    string
		Content []json.RawMessage
	} `json:"messages"`
	Tools []struct {
		Name   string
		Schema map[string]any  `json:"input_schema"`
		Cache  json.RawMessage `json:"cache_control"`
	} `json:"tools"`
	Thinking struct {
		Type   string
		Budget int `json:"budget_tokens"`
	} `json:"thinking"`
	Config struct{ Effort string } `json:"output_config"`
}

type messagesBlock struct {
	Type      string
	Text      string
	ID        string
	Name      string
	Input     json.RawMessage
	Thinking  string
	Signature string
	ToolUseID string          `json:"tool_use_id"`
	Cache     json.RawMessage `json:"cache_control"`
}

var (
	toolUseID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	toolName  = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
)

func (messages) check(s *Server, body []byte) string {
	var r messagesRequest
	if err := json.Unmarshal(body, &r); err != nil {
		return "invalid JSON: " + err.Error()
	}
	if r.Model == "" || r.MaxTokens <= 0 || len(r.Messages) == 0 {
		return "model, max_tokens and messages: Field required"
	}
	if reason := checkThinking(r); reason != "" {
		return reason
	}
	caches := 0
	for _, b := range r.System {
		caches += min(len(b.Cache), 1)
		if strings.TrimSpace(b.Text) == "" {
			return "system: text content blocks must be non-empty"
		}
	}
	for i, t := range r.Tools {
		caches += min(len(t.Cache), 1)
		if !toolName.MatchString(t.Name) || t.Schema["type"] != "object" {
			return fmt.Sprintf("tools.%d: name or input_schema.type", i)
		}
	}
	if r.Messages[0].Role != "user" {
		return "messages: first message must use the \"user\" role"
	}
	if r.Messages[len(r.Messages)-1].Role != "user" {
		return "This model does not support assistant message prefill. The conversation must end with a user message."
	}
	c := conversationCheck{server: s, model: r.Model, seen: map[string]bool{}}
	for i, m := range r.Messages {
		if len(m.Content) == 0 {
			return fmt.Sprintf("messages.%d: content must be non-empty", i)
		}
		c.calls, c.last = map[string]bool{}, ""
		content := false // whether the message contains anything but results
		for j, raw := range m.Content {
			if reason := c.block(m.Role, content, raw); reason != "" {
				return fmt.Sprintf("messages.%d.content.%d: %s", i, j, reason)
			}
			content = content || c.last == "text" || c.last == "image"
		}
		if len(c.open) > 0 {
			return fmt.Sprintf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %v", i-1, c.open)
		}
		if c.last == "thinking" {
			return fmt.Sprintf("messages.%d: The final block in an assistant message cannot be `thinking`", i)
		}
		c.open = c.calls
	}
	caches += c.caches
	if caches > 4 {
		return fmt.Sprintf("A maximum of 4 blocks with cache_control may be provided. Found %d.", caches)
	}
	return ""
}

// A conversationCheck checks the content blocks of messages in order.
type conversationCheck struct {
	server *Server
	model  string
	caches int             // number of blocks with cache_control
	seen   map[string]bool // ids of all calls
	open   map[string]bool // ids of the previous message's calls that have no result yet
	calls  map[string]bool // ids of the calls in this message
	last   string          // type of the last block
}

// block returns an error message if a content block is not valid, or "". content is whether the
// message has a text or image before it.
func (c *conversationCheck) block(role string, content bool, raw json.RawMessage) string {
	var b messagesBlock
	if err := json.Unmarshal(raw, &b); err != nil {
		return err.Error()
	}
	if c.server.issued.changed(raw) {
		return "`thinking`, `text` or `tool_use` blocks cannot be modified"
	}
	c.caches += min(len(b.Cache), 1)
	c.last = b.Type
	switch b.Type {
	case "text":
		if strings.TrimSpace(b.Text) == "" {
			return "text content blocks must contain non-whitespace text"
		}
	case "image":
	case "thinking":
		if role != "assistant" || b.Signature != c.server.issued.sign("thinking", c.model, b.Thinking) {
			return "Invalid `signature` in `thinking` block"
		}
	case "tool_use":
		if role != "assistant" || !toolUseID.MatchString(b.ID) || !toolName.MatchString(b.Name) || !strings.HasPrefix(string(b.Input), "{") {
			return "tool_use.id, .name or .input is not valid"
		}
		if c.seen[b.ID] {
			return "`tool_use` ids must be unique"
		}
		c.seen[b.ID], c.calls[b.ID] = true, true
	case "tool_result":
		if content {
			return "`tool_result` blocks must come first"
		}
		if role != "user" || !c.open[b.ToolUseID] {
			return "unexpected `tool_use_id` found in `tool_result` blocks: " + b.ToolUseID
		}
		delete(c.open, b.ToolUseID)
	default:
		return "unknown block type " + b.Type
	}
	return ""
}

// checkThinking checks the form of reasoning, depending on the model's name. Models with
// "adaptive-" only accept the newer form, those with "budget-" only the older one, and those with
// "plain-" none.
func checkThinking(r messagesRequest) string {
	age, _, _ := strings.Cut(r.Model, "-")
	switch kind := r.Thinking.Type; {
	case age == "plain" && kind != "":
		return "thinking: this model does not support thinking"
	case age == "budget" && kind == "adaptive":
		return "adaptive thinking is not supported on this model"
	case (age == "budget" || age == "plain") && r.Config.Effort != "":
		return "This model does not support the effort parameter."
	case age == "adaptive" && (kind == "enabled" || kind == "disabled"):
		return `"thinking.type.` + kind + `" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort"`
	case kind == "enabled" && r.Thinking.Budget < 1024:
		return "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
	case kind == "enabled" && r.Thinking.Budget >= r.MaxTokens:
		return "`max_tokens` must be greater than `thinking.budget_tokens`"
	case kind == "enabled" && len(r.Messages) > 1:
		return checkThinkingLoop(r)
	case kind != "enabled" && r.Thinking.Budget != 0:
		return "thinking." + kind + ".budget_tokens: Extra inputs are not permitted"
	}
	return ""
}

// checkThinkingLoop requires reasoning at the beginning of an answer whose results end the request.
func checkThinkingLoop(r messagesRequest) string {
	n := len(r.Messages)
	var result, first messagesBlock
	if len(r.Messages[n-1].Content) == 0 || len(r.Messages[n-2].Content) == 0 ||
		json.Unmarshal(r.Messages[n-1].Content[0], &result) != nil || json.Unmarshal(r.Messages[n-2].Content[0], &first) != nil {
		return ""
	}
	if result.Type == "tool_result" && first.Type != "thinking" && first.Type != "redacted_thinking" {
		return fmt.Sprintf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`", n-2, first.Type)
	}
	return ""
}

func (messages) answer(s *Server, model string, r Reply) []event {
	s.issued.n++
	n := s.issued.n
	var events []event
	add := func(name, format string, args ...any) {
		events = append(events, event{name, fmt.Sprintf(format, args...)})
	}
	usage := fmt.Sprintf(`{"input_tokens":%d,"cache_read_input_tokens":%d,"cache_creation_input_tokens":%d,"output_tokens":1}`, r.Usage.Input, r.Usage.CacheRead, r.Usage.CacheWrite)
	add("message_start", `{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":%q,"content":[],"stop_reason":null,"usage":%s}}`, n, model, usage)
	add("ping", `{"type":"ping"}`)
	i := -1
	block := func(empty, whole string, deltas ...string) {
		i++
		s.issued.keep(whole)
		add("content_block_start", `{"type":"content_block_start","index":%d,"content_block":%s}`, i, empty)
		for _, d := range deltas {
			add("content_block_delta", `{"type":"content_block_delta","index":%d,"delta":%s}`, i, d)
		}
		add("content_block_stop", `{"type":"content_block_stop","index":%d}`, i)
	}
	if r.Thought != "" {
		signature := s.issued.sign("thinking", model, r.Thought)
		block(`{"type":"thinking", "thinking":"", "signature":"", `+unknown+`}`,
			`{"type":"thinking", "thinking":`+quote(r.Thought)+`, "signature":"`+signature+`", `+unknown+`}`,
			append(wrap(`{"type":"thinking_delta","thinking":"%s"}`, deltas(r.Thought)), `{"type":"signature_delta","signature":"`+signature+`"}`)...)
	}
	if r.Text != "" {
		block(`{ "type":"text","text":"",`+unknown+`}`, `{ "type":"text","text":`+quote(r.Text)+`,`+unknown+`}`,
			wrap(`{"type":"text_delta","text":"%s"}`, deltas(r.Text))...)
	}
	for k, c := range r.Calls {
		format := `{"type":"tool_use","id":"toolu_%d_%d","name":%q,"input":%s,` + unknown + `}`
		whole := c.Arguments
		if !json.Valid([]byte(whole)) {
			whole = `{"invalid_arguments":` + quoted(c.Arguments) + `}`
		}
		block(fmt.Sprintf(format, n, k, c.Name, "{}"), fmt.Sprintf(format, n, k, c.Name, whole),
			wrap(`{"type":"input_json_delta","partial_json":"%s"}`, append([]string{""}, deltas(c.Arguments)...))...)
	}
	stop := "end_turn"
	switch {
	case r.Cut:
		stop = "max_tokens"
	case r.Refusal:
		stop = "refusal"
	case len(r.Calls) > 0:
		stop = "tool_use"
	}
	output := fmt.Sprintf(`"output_tokens":%d,"output_tokens_details":{"thinking_tokens":%d}`, r.Usage.Output, r.Usage.Reasoning)
	add("message_delta", `{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null},"usage":{%s}}`, stop, output)
	add("message_stop", `{"type":"message_stop"}`)
	return events
}

func wrap(format string, pieces []string) []string {
	wrapped := make([]string, len(pieces))
	for i, p := range pieces {
		wrapped[i] = strings.Replace(format, "%s", p, 1)
	}
	return wrapped
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
