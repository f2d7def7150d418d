package anthropic

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// FuzzAnswer checks that any stream is an error or has raw items that can be sent back.
func FuzzAnswer(f *testing.F) {
	f.Add("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n" +
		"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"a\",\"name\":\"b\"}}\n\n" +
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"\\ud83d\"}}\n\n" +
		"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	f.Add("data: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\"}}\n\n")
	f.Fuzz(func(t *testing.T, stream string) {
		a := newAnswer(func(provider.Event) {})
		err := a.Read(t.Context(), &http.Response{Header: http.Header{}, Body: io.NopCloser(strings.NewReader(stream))}, a.event)
		got, err := a.Finish(provider.Origin{}, err)
		if err == nil && got.Raw != nil {
			for _, item := range got.Raw.Items {
				if !json.Valid(item) {
					t.Errorf("item %q is not JSON", item)
				}
			}
		}
	})
}
