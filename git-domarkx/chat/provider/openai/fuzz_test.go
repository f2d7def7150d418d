package openai

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

func response(stream string) *http.Response {
	return &http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader(stream))}
}

func checkItems(t *testing.T, items [][]byte) {
	t.Helper()
	for _, item := range items {
		if !json.Valid(item) {
			t.Errorf("item %q is not JSON", item)
		}
	}
}

// FuzzChat checks that any stream is an error or has a raw item that can be sent back.
func FuzzChat(f *testing.F) {
	f.Add(`data: {"model":"m","choices":[{"delta":{"role":"assistant","content":null,"x":{"a":1}}}]}` + "\n\n" +
		`data: {"choices":[{"delta":{"content":"\ud83d","x":{"a":[2],"b":"c"},"tool_calls":[{"index":0,"id":"i","function":{"name":"n","arguments":"{"}}]}}]}` + "\n\n" +
		`data: {"choices":[{"delta":{"content":"\ude00","tool_calls":[{"index":0,"function":{"arguments":"}"}},{"index":0,"id":"j"}]},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":3,"total_tokens":9}}` + "\n\ndata: [DONE]\n\n")
	f.Add("data: {\"error\":{\"message\":\"no\"}}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		a := &chatAnswer{Stream: provider.NewStream(func(provider.Event) {})}
		if a.Read(t.Context(), response(stream), a.event) == nil && a.complete() == nil {
			checkItems(t, a.Items)
		}
	})
}

// FuzzResponses checks that any stream is an error or has raw items that can be sent back.
func FuzzResponses(f *testing.F) {
	f.Add(`data: {"type":"response.created","response":{"model":"m"}}` + "\n\n" +
		`data: {"type":"response.output_item.done","output_index":0,"item":{"type":"message","content":[{"type":"output_text","text":"a"}]}}` + "\n\n" +
		`data: {"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","call_id":"c","name":"n","arguments":"{}"}}` + "\n\n" +
		`data: {"type":"response.completed","response":{"status":"completed","usage":{"input_tokens":1}}}` + "\n\n")
	f.Add("data: {\"type\":\"error\",\"code\":\"x\",\"message\":\"no\"}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		a := &responsesAnswer{Stream: provider.NewStream(func(provider.Event) {}), shown: map[int64]int{}}
		if a.Read(t.Context(), response(stream), a.event) == nil {
			checkItems(t, a.Items)
		}
	})
}
