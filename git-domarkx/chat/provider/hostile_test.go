package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/anthropic"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider/openai"
)

// hostile runs a test for each wire against a server that answers with handler.
func hostile(t *testing.T, handler http.HandlerFunc, test func(t *testing.T, w provider.Wire)) {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	key := provider.NewKey("k")
	for _, w := range []provider.Wire{anthropic.New(parse(s.URL+"/v1"), "m", key, 2*time.Second), openai.NewResponses(parse(s.URL+"/v1"), "m", key, 2*time.Second),
		openai.NewChat(openai.Compatible, parse(s.URL+"/v1"), "m", key, 2*time.Second)} {
		t.Run(w.Origin().Provider, func(t *testing.T) { test(t, w) })
	}
}

func TestEndlessEventIsBounded(t *testing.T) {
	chunk := []byte("data: " + strings.Repeat("x", 1<<20) + "\n")
	write := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	hostile(t, write, func(t *testing.T, w provider.Wire) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := w.Stream(t.Context(), ask("Well?"), none)
		runtime.ReadMemStats(&after)
		if !errors.Is(err, provider.ErrTooLarge) {
			t.Errorf("error %v, expected %v", err, provider.ErrTooLarge)
		}
		if total := (after.TotalAlloc - before.TotalAlloc) >> 20; total > 600 {
			t.Errorf("allocated %d MB", total)
		}
	})
}

// streaming returns a server that sends a stream and then waits for the client.
func streaming(send func(w io.Writer)) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then the context ends with the connection
		w.Header().Set("Content-Type", "text/event-stream")
		send(w)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
}

// TestEndlessAnswerIsBounded sends parts that are kept although they are not text, again and again.
func TestEndlessAnswerIsBounded(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	delta := func(members string) string { return `data: {"choices":[{"delta":{` + members + "}}]}\n\n" }
	for name, event := range map[string]string{
		"an array":         delta(`"content":["` + long + `"]`),
		"a long name":      delta(`"` + long + `%[1]d":0`),
		"nested names":     delta(`"x":{"` + long + `%[1]d":null}`),
		"other thoughts":   delta(`"reasoning":"a"`) + delta(`"reasoning_content":"`+long+`"`),
		"unknown items":    `data: {"type":"response.output_item.done","output_index":%[1]d,"item":{"type":"x","x":"` + long + "\"}}\n\n",
		"a text and items": `data: {"type":"response.output_text.delta","delta":"a"}` + "\n\n" + `data: {"type":"response.output_item.done","item":{"type":"message","x":"` + long + "\"}}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := streaming(func(w io.Writer) {
				for i := range 2 * provider.MaxAnswer >> 20 {
					fmt.Fprintf(w, event+"%[2]s", i, "")
				}
			})
			defer s.Close()
			var wire provider.Wire = openai.NewChat(openai.Compatible, parse(s.URL+"/v1"), "m", provider.Key{}, 10*time.Second)
			if strings.Contains(event, "response.") {
				wire = openai.NewResponses(parse(s.URL+"/v1"), "m", provider.Key{}, 10*time.Second)
			}
			if _, err := wire.Stream(t.Context(), ask("Well?"), none); !errors.Is(err, provider.ErrTooLarge) {
				t.Errorf("error %v, expected %v", err, provider.ErrTooLarge)
			}
		})
	}
}

// TestManyPieces checks that a piece costs the same however much arrived before it.
func TestManyPieces(t *testing.T) {
	const pieces = 4000
	s := streaming(func(w io.Writer) {
		for i := range pieces {
			fmt.Fprintf(w, `data: {"choices":[{"delta":{"content":"a","list":[{"text":"%0100d"}],"map":{"%0100d":{"x":[]}}}}]}`+"\n\n", i, i)
		}
		fmt.Fprint(w, `data: {"choices":[{"delta":{"list":[ ],"map":{"0":[2 ]}},"finish_reason":"stop"}]}`+"\n\n"+`data: {"choices":[{"delta":{"map":{"0":[ 3]}}}]}`+"\n\ndata: [DONE]\n\n")
	})
	defer s.Close()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := openai.NewChat(openai.Compatible, parse(s.URL+"/v1"), "m", provider.Key{}, 10*time.Second).Stream(t.Context(), ask("Well?"), none)
	runtime.ReadMemStats(&after)
	if err != nil || got.Raw == nil {
		t.Fatalf("answer %.100v, error %v", got, err)
	}
	var item struct {
		List []struct{ Text string }
		Map  map[string]any
	}
	if err := json.Unmarshal(got.Raw.Items[0], &item); err != nil || len(item.List) != pieces || len(item.Map) != pieces+1 || fmt.Sprint(item.Map["0"]) != "[2 3]" {
		t.Errorf("%d in the list, %d in the map, error %v", len(item.List), len(item.Map), err)
	}
	if total := (after.TotalAlloc - before.TotalAlloc) >> 20; total > 300 {
		t.Errorf("allocated %d MB", total)
	}
}

func TestEndlessErrorIsBounded(t *testing.T) {
	write := func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	}
	hostile(t, write, func(t *testing.T, w provider.Wire) {
		_, err := w.Stream(t.Context(), ask("Well?"), none)
		if !errors.Is(err, provider.ErrServer) || len(err.Error()) > 3000 {
			t.Errorf("error of %d bytes, expected a short one that is %v", len(err.Error()), provider.ErrServer)
		}
	})
}

func TestAnswerThatIsNoStream(t *testing.T) {
	tests := []struct {
		kind, body string
		want       error
	}{
		{"application/json", `{"id":"x"}`, provider.ErrAnswer},
		{"text/html; charset=utf-8", "<html>Log in</html>", provider.ErrAnswer},
		{"text/event-stream", "", provider.ErrCut},
		{"text/event-stream", "data: " + strings.Repeat("x", 33<<20), provider.ErrTooLarge},
		{"text/event-stream", "data: [1,2]\n\n", provider.ErrAnswer},
		{"text/event-stream", "data: {\"type\":\"message_stop\"", provider.ErrCut},
	}
	for i, test := range tests {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			hostile(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body) // else the server may reset the connection before all is read
				w.Header().Set("Content-Type", test.kind)
				_, _ = w.Write([]byte(test.body))
			}, func(t *testing.T, w provider.Wire) {
				if got, err := w.Stream(t.Context(), ask("Well?"), none); !errors.Is(err, test.want) || got.Raw != nil {
					t.Errorf("error %v, expected %v", err, test.want)
				}
			})
		})
	}
}

func TestMovedWithoutPlace(t *testing.T) {
	hostile(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMultipleChoices) }, func(t *testing.T, w provider.Wire) {
		if _, err := w.Stream(t.Context(), ask("Well?"), none); !errors.Is(err, provider.ErrRedirect) {
			t.Errorf("error %v, expected %v", err, provider.ErrRedirect)
		}
	})
}

// TestSilentServer checks the time limit before the first byte.
func TestSilentServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // nobody accepts
	for _, w := range []provider.Wire{anthropic.New(parse("http://"+l.Addr().String()), "m", provider.Key{}, 100*time.Millisecond),
		openai.NewChat(openai.Compatible, parse("http://"+l.Addr().String()+"/v1"), "m", provider.Key{}, 100*time.Millisecond)} {
		if _, err := w.Stream(t.Context(), ask("Well?"), none); !errors.Is(err, provider.ErrStalled) {
			t.Errorf("%s: error %v, expected %v", w.Origin().Provider, err, provider.ErrStalled)
		}
	}
}

// TestSlowServer checks that a server that sends something from time to time is not stalled.
func TestSlowServer(t *testing.T) {
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for range 6 {
			<-tick.C
			_, _ = w.Write([]byte(": wait\n\n"))
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"late\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	}
	s := httptest.NewServer(http.HandlerFunc(handler))
	defer s.Close()
	got, err := openai.NewChat(openai.Compatible, parse(s.URL+"/v1"), "m", provider.Key{}, 200*time.Millisecond).Stream(t.Context(), ask("Well?"), none)
	if err != nil || len(got.Parts) != 1 {
		t.Errorf("answer %v, error %v", got, err)
	}
}

func TestForeignTextInErrorsIsShort(t *testing.T) {
	for _, body := range []string{`{"error":"text"}`, `{"error":{"message":7}}`, `[]`, `[[[`, `null`, strings.Repeat("é", 5000)} {
		f := provider.ParseFailure([]byte(body))
		f.Status = 400
		if err := provider.NewError(f, provider.Key{}); !errors.Is(err, provider.ErrRequest) || len(err.Error()) > 2200 {
			t.Errorf("%.20s: %v", body, err)
		}
	}
}
