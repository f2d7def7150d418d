// Package providertest provides a test server with the APIs of the model providers. It refuses the
// requests that the providers refuse.
//
// The server follows the providers' documentation and reports of their errors, independent of the
// packages that it tests. Its answers are scripted. Each item of an answer contains an unknown
// member and unusual escapes. The server refuses an item that comes back changed.
package providertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Key is the API key that the server accepts.
const Key = "test-key-0123456789"

// A Reply is the answer to one request, or a failure.
type Reply struct {
	Model   string // as reported; "" repeats the name in the request
	Thought string
	Text    string
	Calls   []Call
	Refusal bool // the model refuses with Text
	Cut     bool // the answer is cut off at the limit of tokens
	Usage   Usage

	Status   int // status of an HTTP error, with the header and body below
	Header   http.Header
	Body     string
	Redirect string // a URL to redirect to

	Stream
}

// A Stream is what happens in the stream of an answer.
type Stream struct {
	Break   Break // failure within the stream
	After   int   // number of events before the failure
	Unknown bool  // adds events of unknown types to the stream
	// Wait, if not nil, pauses the stream after After events until the channel is closed.
	Wait <-chan struct{} `json:"-"`
}

// A Call is a call in an answer.
type Call struct{ Name, Arguments string }

// Usage counts tokens; no token is counted twice.
type Usage struct{ Input, CacheRead, CacheWrite, Output, Reasoning int }

// A Break is a failure in the middle of a stream.
type Break string

// The failures of streams.
const (
	Cut        Break = "cut"         // the connection is closed
	Stall      Break = "stall"       // the stream stalls
	Invalid    Break = "invalid"     // an event is not JSON
	Overloaded Break = "overloaded"  // an event reports an error
	EndOfBody  Break = "end-of-body" // the response ends regularly, but lacks its last events
)

// A Request is a request that the server received.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// A Server is a provider on this machine. All of its APIs use the same script.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	script   []Reply
	requests []Request
	refused  []string
	surplus  int // number of requests after the end of the script
	left     int // number of stalled streams whose client disconnected
	issued   issued
}

// New starts a server that gives the replies in order. The server stops when the test ends. The
// test fails if there were more requests than replies.
func New(t testing.TB, script ...Reply) *Server {
	t.Helper()
	s := Start(script...)
	t.Cleanup(func() {
		if err := s.End(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Start is like [New], without a test. The caller must call [Server.End].
func Start(script ...Reply) *Server {
	s := &Server{script: script, issued: newIssued()}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// End stops the server. It returns an error if there were more requests than replies.
func (s *Server) End() error {
	s.CloseClientConnections()
	s.Close()
	if s.surplus > 0 {
		return fmt.Errorf("the model server got %d requests after the end of its script, the last: %.2000s", s.surplus, s.requests[len(s.requests)-1].Body)
	}
	return nil
}

// Base returns the base URL of the server, with "/v1".
func (s *Server) Base() string { return s.URL + "/v1" }

// Add appends replies to the script.
func (s *Server) Add(script ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, script...)
}

// Requests returns the requests so far.
func (s *Server) Requests() []Request { return cloned(s, &s.requests) }

// Refused returns the reasons for which the server has refused requests so far.
func (s *Server) Refused() []string { return cloned(s, &s.refused) }

// Left returns the number of stalled streams whose client has disconnected so far.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Items returns the raw items of the answers so far, in the form in which they must come back.
func (s *Server) Items() [][]byte { return cloned(s, &s.issued.items) }

func cloned[T any](s *Server, list *[]T) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(*list)
}

// A dialect is one API of the server.
type dialect interface {
	// check returns the reason why the provider refuses a request, or "".
	check(s *Server, body []byte) string
	// answer returns a reply as events.
	answer(s *Server, model string, r Reply) []event
	// failure returns an error body.
	failure(status int, message string) string
	// overloaded returns an error as an event.
	overloaded() event
}

type event struct{ name, data string }

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, Request{r.URL.Path, r.Header.Clone(), body})
	s.mu.Unlock()
	d, key := s.dialect(r)
	if d == nil {
		http.Error(w, `{"error":{"message":"not found"}}`, http.StatusNotFound)
		return
	}
	if key != Key {
		fail(w, http.StatusUnauthorized, nil, d.failure(http.StatusUnauthorized, "invalid key "+key))
		return
	}
	if reason := s.check(d, body); reason != "" {
		fail(w, http.StatusBadRequest, nil, d.failure(http.StatusBadRequest, reason))
		return
	}
	reply, ok := s.next()
	if !ok {
		fail(w, http.StatusBadRequest, nil, d.failure(http.StatusBadRequest, "the script has ended"))
		return
	}
	switch {
	case reply.Redirect != "":
		http.Redirect(w, r, reply.Redirect, http.StatusTemporaryRedirect)
	case reply.Status != 0:
		if reply.Body == "" {
			reply.Body = d.failure(reply.Status, http.StatusText(reply.Status))
		}
		fail(w, reply.Status, reply.Header, reply.Body)
	default:
		s.answer(w, r, d, body, reply)
	}
}

func (s *Server) check(d dialect, body []byte) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	reason := d.check(s, body)
	if reason != "" {
		s.refused = append(s.refused, reason)
	}
	return reason
}

func (s *Server) next() (Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.script) == 0 {
		s.surplus++
		return Reply{}, false
	}
	r := s.script[0]
	s.script = s.script[1:]
	return r, true
}

func (s *Server) dialect(r *http.Request) (dialect, string) {
	bearer := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch {
	case r.Method != http.MethodPost:
	case r.URL.Path == "/v1/messages" && r.Header.Get("Anthropic-Version") != "":
		return messages{}, r.Header.Get("X-Api-Key")
	case r.URL.Path == "/v1/responses":
		return responses{}, bearer
	case r.URL.Path == "/v1/chat/completions":
		return chat{}, bearer
	case r.URL.Path == "/v1beta/openai/chat/completions":
		return chat{gemini: true}, bearer
	}
	return nil, ""
}

// Gemini returns the base URL of the server's Gemini API.
func (s *Server) Gemini() string { return s.URL + "/v1beta/openai" }

func fail(w http.ResponseWriter, status int, header http.Header, body string) {
	maps.Copy(w.Header(), header)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, d dialect, body []byte, reply Reply) {
	var request struct{ Model string }
	_ = json.Unmarshal(body, &request) // the dialect's check has already reported invalid JSON
	s.mu.Lock()
	events := d.answer(s, cmp.Or(reply.Model, request.Model), reply)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	flush := http.NewResponseController(w).Flush
	for i, e := range events {
		if reply.Unknown {
			_, _ = io.WriteString(w, ": a comment\n\n")
			send(w, event{"surprise", `{"type":"surprise","choices":[],"delta":{"type":"new"},"item":null}`})
		}
		if i == reply.After && s.broken(w, r, d, reply) {
			return
		}
		send(w, e)
		if i < 100 || i%100 == 0 {
			_ = flush()
		}
	}
}

// broken causes the failure of a reply at this point of a stream. It reports whether the stream
// ended.
func (s *Server) broken(w http.ResponseWriter, r *http.Request, d dialect, reply Reply) bool {
	controller := http.NewResponseController(w)
	_ = controller.Flush()
	if reply.Wait != nil {
		select {
		case <-reply.Wait:
		case <-r.Context().Done():
			return true
		}
	}
	switch reply.Break {
	case Cut:
		if conn, _, err := controller.Hijack(); err == nil {
			_ = conn.Close()
		}
	case Stall:
		<-r.Context().Done()
		s.mu.Lock()
		s.left++
		s.mu.Unlock()
	case Invalid:
		send(w, event{"", `{"type": "content_block_delta", "delta": {`})
	case Overloaded:
		send(w, d.overloaded())
	case EndOfBody:
	default:
		return false
	}
	return true
}

func send(w io.Writer, e event) {
	if e.name != "" {
		_, _ = fmt.Fprintf(w, "event: %s\n", e.name)
	}
	_, _ = fmt.Fprintf(w, "data: %s\n\n", e.data)
}
