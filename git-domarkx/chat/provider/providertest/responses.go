package providertest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// responses is OpenAI's Responses API
// (https://developers.openai.com/api/reference/resources/responses).
type responses struct{}

func (responses) failure(status int, message string) string { return openaiFailure(status, message) }

func openaiFailure(status int, message string) string {
	kind, code := "invalid_request_error", "null"
	switch status {
	case 401:
		code = `"invalid_api_key"`
	case 429:
		kind, code = "requests", `"rate_limit_exceeded"`
	case 500, 503, 529:
		kind = "server_error"
	}
	if strings.Contains(message, "encrypted") {
		code = `"invalid_encrypted_content"`
	}
	return fmt.Sprintf(`{"error":{"message":%q,"type":%q,"param":null,"code":%s}}`, message, kind, code)
}

func (responses) overloaded() event {
	return event{"error", `{"type":"error","code":"server_is_overloaded","message":"Overloaded","param":null,"sequence_number":3}`}
}

type responsesItem struct {
	Type, ID, Role, Name, Arguments string
	CallID                          string `json:"call_id"`
	Encrypted                       string `json:"encrypted_content"`
	Content                         json.RawMessage
	Output                          json.RawMessage
}

func (responses) check(s *Server, body []byte) string {
	var r struct {
		Model  string            `json:"model"`
		Input  []json.RawMessage `json:"input"`
		Store  *bool             `json:"store"`
		Tools  []struct{ Type, Name string }
		Stream bool
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return "invalid JSON: " + err.Error()
	}
	if r.Model == "" || len(r.Input) == 0 {
		return "Missing required parameter: 'model' or 'input'."
	}
	if r.Store == nil || *r.Store {
		return "this server stores nothing: 'store' must be false"
	}
	for i, t := range r.Tools {
		if t.Type != "function" || !toolName.MatchString(t.Name) {
			return fmt.Sprintf("Invalid 'tools[%d].name'", i)
		}
	}
	open := map[string]bool{}
	reasoning, followed := "", false // the reasoning of the current answer, and whether an item followed it
	for i, raw := range r.Input {
		var item responsesItem
		if err := json.Unmarshal(raw, &item); err != nil {
			return fmt.Sprintf("input[%d]: %v", i, err)
		}
		if s.issued.changed(raw) {
			return fmt.Sprintf("input[%d]: the encrypted content or the item was changed", i)
		}
		own := strings.Contains(item.ID, "_r") // requires the reasoning of its answer
		switch {
		case item.Type == "reasoning":
		case own && reasoning == "":
			return "Item '" + item.ID + "' of type '" + item.Type + "' was provided without its required 'reasoning' item."
		case own:
			followed = true
		case reasoning != "" && !followed:
			return orphaned(reasoning)
		default:
			reasoning = ""
		}
		switch item.Type {
		case "", "message":
			if item.Role == "" || len(item.Content) < 3 {
				return fmt.Sprintf("input[%d]: role and content are required", i)
			}
		case "reasoning":
			if item.Encrypted != s.issued.sign("reasoning", r.Model, item.ID) {
				return "The encrypted content for item " + item.ID + " could not be verified."
			}
			if reasoning != "" && !followed {
				return orphaned(reasoning)
			}
			reasoning, followed = item.ID, false
		case "function_call":
			if item.CallID == "" || len(item.CallID) > 64 || !toolName.MatchString(item.Name) {
				return fmt.Sprintf("Invalid 'input[%d].call_id' or name", i)
			}
			open[item.CallID] = true
		case "function_call_output":
			if !open[item.CallID] {
				return "No tool call found for function call output with call_id " + item.CallID + "."
			}
			delete(open, item.CallID)
		default:
			return fmt.Sprintf("Invalid value 'input[%d].type'", i)
		}
	}
	if reasoning != "" && !followed {
		return orphaned(reasoning)
	}
	for id := range open {
		return "No tool output found for function call " + id + "."
	}
	return ""
}

func orphaned(id string) string {
	return "Item '" + id + "' of type 'reasoning' was provided without its required following item."
}

func (responses) answer(s *Server, model string, r Reply) []event {
	s.issued.n++
	n := s.issued.n
	var events []event
	sequence := 0
	add := func(name, format string, args ...any) {
		members := fmt.Sprintf(format, args...)
		events = append(events, event{name, fmt.Sprintf(`{"type":%q,"sequence_number":%d,%s}`, name, sequence, members)})
		sequence++
	}
	add("response.created", `"response":{"id":"resp_%d","object":"response","model":%q,"status":"in_progress","output":[]}`, n, model)
	var items []string
	item := func(empty, whole string, progress func(i int)) {
		i := len(items)
		items = append(items, whole)
		s.issued.keep(whole)
		add("response.output_item.added", `"output_index":%d,"item":%s`, i, empty)
		progress(i)
		add("response.output_item.done", `"output_index":%d,"item":%s`, i, whole)
	}
	mark := "" // ids of items that require the reasoning before them
	if r.Thought != "" {
		mark = "_r"
		id := fmt.Sprintf("rs_%d", n)
		item(`{"id":"`+id+`","type":"reasoning","summary":[]}`,
			`{"id":"`+id+`","type":"reasoning","summary":[{"type":"summary_text","text":`+quote(r.Thought)+`}],"encrypted_content":"`+
				s.issued.sign("reasoning", model, id)+`",`+unknown+`}`,
			func(i int) {
				add("response.reasoning_summary_part.added", `"item_id":%q,"output_index":%d,"summary_index":0,"part":{"type":"summary_text","text":""}`, id, i)
				for _, d := range deltas(r.Thought) {
					add("response.reasoning_summary_text.delta", `"item_id":%q,"output_index":%d,"summary_index":0,"delta":"%s"`, id, i, d)
				}
			})
	}
	if r.Text != "" {
		id := fmt.Sprintf("msg_%d%s", n, mark)
		kind, member := "output_text", "text"
		if r.Refusal {
			kind, member = "refusal", "refusal"
		}
		item(`{"id":"`+id+`","type":"message","role":"assistant","status":"in_progress","content":[]}`,
			`{"id":"`+id+`","type":"message","role":"assistant","status":"completed","content":[{"type":"`+kind+`","`+member+`":`+quote(r.Text)+`,"annotations":[]}],`+unknown+`}`,
			func(i int) {
				for _, d := range deltas(r.Text) {
					add("response."+kind+".delta", `"item_id":%q,"output_index":%d,"content_index":0,"delta":"%s"`, id, i, d)
				}
			})
	}
	for k, c := range r.Calls {
		format := fmt.Sprintf(`{"id":"fc_%d_%d%s","type":"function_call","status":"completed","call_id":"call_%d_%d","name":%q,"arguments":%%s,%s}`, n, k, mark, n, k, c.Name, strings.ReplaceAll(unknown, "%", "%%"))
		item(fmt.Sprintf(format, `""`), fmt.Sprintf(format, quote(c.Arguments)), func(i int) {
			for _, d := range deltas(c.Arguments) {
				add("response.function_call_arguments.delta", `"item_id":"fc_%d_%d%s","output_index":%d,"delta":"%s"`, n, k, mark, i, d)
			}
			add("response.function_call_arguments.done", `"item_id":"fc_%d_%d%s","output_index":%d,"arguments":%s`, n, k, mark, i, quote(c.Arguments))
		})
	}
	status, details := "completed", "null"
	if r.Cut {
		status, details = "incomplete", `{"reason":"max_output_tokens"}`
	}
	u := r.Usage
	input := u.Input + u.CacheRead + u.CacheWrite
	whole := fmt.Sprintf(`{"id":"resp_%d","object":"response","model":%q,"status":%q,"incomplete_details":%s,"error":null,"output":[%s],"usage":{"input_tokens":%d,"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d},"output_tokens":%d,"output_tokens_details":{"reasoning_tokens":%d},"total_tokens":%d}}`,
		n, model, status, details, strings.Join(items, ","), input, u.CacheRead, u.CacheWrite, u.Output, u.Reasoning, input+u.Output)
	add("response."+status, `"response":%s`, whole)
	return events
}
