package chat_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/models"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// long returns a session with many messages.
func long(messages int) string {
	var b strings.Builder
	b.WriteString(config)
	for i := range messages {
		fmt.Fprintf(&b, "\n## %s\n\nmessage %d: the *quick* brown fox jumps over the lazy dog.\n", [2]string{"user", "assistant"}[i%2], i)
	}
	return b.String()
}

// hasty is a provider that answers at once, without a look at the request.
func hasty(t testing.TB) provider.Wire {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range []string{
			`{"type":"message_start","message":{"id":"x","type":"message","role":"assistant","model":"m","content":[],"usage":{"input_tokens":10,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Done."}}`,
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}}`,
			`{"type":"message_stop"}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	t.Cleanup(server.Close)
	u, err := url.Parse(server.URL + "/v1")
	if err != nil {
		t.Fatal(err)
	}
	return provider.Client{Wire: models.Open(models.Definition{Name: "m", Provider: "anthropic", URL: u, Model: "m", Timeout: 10 * time.Second}, provider.Key{})}
}

// BenchmarkLongSession takes turns in a session of 10,000 messages that all go to the model, each
// in a process that has read nothing of the session.
func BenchmarkLongSession(b *testing.B) {
	for _, messages := range []int{100, 10000} {
		b.Run(fmt.Sprint(messages), func(b *testing.B) {
			dir := newSite(b).dir()
			s := openSite(b, dir)
			s.session("s", long(messages))
			w, text := hasty(b), "next"
			for b.Loop() {
				b.StopTimer()
				s := openSite(b, dir)
				b.StartTimer()
				if _, err := s.chat.Turn(b.Context(), chat.Request{Session: "s", Text: &text, Approve: trust.Calls{All: true}, Model: chat.Model{Wire: w}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
