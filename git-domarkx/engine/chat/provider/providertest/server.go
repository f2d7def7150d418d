// Package providertest has a server that speaks the wires of the model providers and refuses what
// the providers refuse, for tests.
//
// It is written from the providers' documentation and from reports of their errors, and knows
// nothing of the packages that it tests. Its answers are scripted. Every item of an answer has an
// unknown member and unusual escapes, and an item that comes back changed is refused.
package providertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Key is the key that the server accepts.
const Key = "test-key-0123456789"

// A Reply is the answer to one request, or its failure.
type Reply struct {
	Model   string // as reported; "" repeats the requested one
	Thought string
	Text    string
	Calls   []Call
	Refusal bool // the model refuses with Text
	Cut     bool // the answer ended at the limit of tokens
	Usage   Usage

	Status   int // of an HTTP error with the header and body below
	Header   http.Header
	Body     string
	Redirect string // a URL to redirect to

	Break   Break // what goes wrong in the stream
	After   int   // after that many events
	Unknown bool  // the stream has events of unknown types
	// Wait, unless nil, holds the stream after After events until it is closed.
	Wait <-chan struct{} `json:"-"`
}

// A Call is a call in an answer.
type Call struct{ Name, Arguments string }

// Usage counts tokens without overlaps.
type Usage struct{ Input, CacheRead, CacheWrite, Output, Reasoning int }

// A Break is a failure in the middle of a stream.
type Break string

// The failures of streams.
const (
	Cut        Break = "cut"         // the connection ends
	Stall      Break = "stall"       // nothing more comes
	Invalid    Break = "invalid"     // an event that is not JSON
	Overloaded Break = "overloaded"  // an error as an event
	EndOfBody  Break = "end-of-body" // the response ends well, but without its last events
)

// A Request is what the server received.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// A Server is a provider on this machine. Its wires share the script.
type Server struct {
	*httptest.Server

	mu       sync.Mutex
	script   []Reply
	requests []Request
	refused  []string
	surplus  int // requests after the end of the script
	left     int // stalled streams whose client left
	issued   issued
}

// New starts a server that gives these replies in order. It is closed when the test ends, which
// fails if there were more requests than replies.
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

// Start is like [New], without a test. The caller ends the server.
func Start(script ...Reply) *Server {
	s := &Server{script: script, issued: newIssued()}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// End closes the server. It returns an error if there were more requests than replies.
func (s *Server) End() error {
	s.CloseClientConnections()
	s.Close()
	if s.surplus > 0 {
		return fmt.Errorf("the model server got %d requests after the end of its script, the last: %.2000s", s.surplus, s.requests[len(s.requests)-1].Body)
	}
	return nil
}

// Base returns the URL for a model's definition, with its "/v1".
func (s *Server) Base() string { return s.URL + "/v1" }

// Add appends replies to the script.
func (s *Server) Add(script ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.script = append(s.script, script...)
}

// Requests returns what the server received so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Refused returns why the server refused requests so far.
func (s *Server) Refused() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.refused...)
}

// Left returns how many clients left a stalled stream so far.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.left
}

// Items returns the raw items of the answers so far, as they have to come back.
func (s *Server) Items() [][]byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([][]byte(nil), s.issued.items...)
}

// A dialect is one wire of the server.
type dialect interface {
	// check returns why the provider refuses a request; "" if it does not.
	check(s *Server, body []byte) string
	// answer returns the events of a reply and the same answer as one object.
	answer(s *Server, model string, r Reply) (events []event, plain []byte)
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

// Gemini returns the URL for a definition of Gemini.
func (s *Server) Gemini() string { return s.URL + "/v1beta/openai" }

func fail(w http.ResponseWriter, status int, header http.Header, body string) {
	for name, values := range header {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, d dialect, body []byte, reply Reply) {
	request := object(body)
	model := reply.Model
	if model == "" {
		model = request["model"].(string)
	}
	s.mu.Lock()
	events, plain := d.answer(s, model, reply)
	s.mu.Unlock()
	if request["stream"] != true {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(plain)
		return
	}
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

// broken does what goes wrong at this place of a stream. It reports whether the stream ended.
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
