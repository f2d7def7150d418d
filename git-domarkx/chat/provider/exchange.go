package provider

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// An Endpoint is where the requests to one model go.
type Endpoint struct {
	origin Origin
	key    Key
	base   *url.URL
	client *http.Client
}

// NewEndpoint returns the endpoint of a model of the named provider. base must satisfy [CheckURL]. timeout is the maximum
// time without a received byte.
func NewEndpoint(provider string, base *url.URL, model string, key Key, timeout time.Duration) Endpoint {
	return Endpoint{Origin{provider, base.Host, model}, key, base, httpClient(base, timeout)}
}

// Origin implements [Wire].
func (e *Endpoint) Origin() Origin { return e.origin }

// Header returns the header of a request, with the key behind a prefix if there is a key.
func (e *Endpoint) Header(name, prefix string) http.Header {
	h := http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}}
	if !e.key.IsZero() {
		h.Set(name, prefix+e.key.Secret())
	}
	return h
}

// Ask sends a request with JSON to a path below the URL, and reads the answer with event.
func (e *Endpoint) Ask(ctx context.Context, path string, header http.Header, body []byte, s *Stream, event func(data []byte) error) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base.JoinPath(path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = header
	response, err := e.client.Do(request)
	if err := check(ctx, response, err, e.key); err != nil {
		return err
	}
	defer response.Body.Close()
	s.key = e.key
	return s.Read(ctx, response, event)
}

// A Stream is an answer that arrives.
type Stream struct {
	*Collector
	Items  [][]byte // raw items
	Done   bool     // whether the answer is whole
	MayEnd bool     // whether the answer is whole if the response ends here
	key    Key
}

// NewStream returns a stream that calls emit for each piece.
func NewStream(emit func(Event)) Stream { return Stream{Collector: NewCollector(emit)} }

// Read calls event for each event of a response until the answer is whole.
func (s *Stream) Read(ctx context.Context, response *http.Response, event func(data []byte) error) error {
	events := ssestream.NewDecoder(response)
	for !s.Done && events.Next() {
		if err := event(events.Event().Data); err != nil {
			return err
		}
	}
	if s.Done || s.MayEnd && events.Err() == nil {
		return nil
	}
	return broken(ctx, events.Err(), s.key, ErrCut)
}

// Finish returns the answer of a model. If err is not nil, the answer is incomplete and has no raw items.
func (s *Stream) Finish(o Origin, err error) (Answer, error) {
	s.Break()
	if err == nil && len(s.Items) > 0 {
		s.Raw = &Raw{Origin: o, Items: s.Items}
	}
	if s.Answer.Stop == StopEnd && len(s.Calls()) > 0 {
		s.Answer.Stop = StopTools // some servers report the same reason for every end
	}
	return s.Answer, err
}

// Failure returns the error that an event reports.
func (s *Stream) Failure(f Failure) error { return NewError(f, s.key) }

// Decode decodes JSON from a server. Members of other types than expected count as missing, because servers differ in what
// they send beside an answer.
func Decode(data []byte, v any) error {
	var other *json.UnmarshalTypeError
	if err := json.Unmarshal(data, v); err != nil && (!errors.As(err, &other) || other.Field == "") { // or the whole is of another type
		return Invalid(err)
	}
	return nil
}

// Invalid returns the error for an answer that is not valid.
func Invalid(err error) error { return &Error{Kind: ErrAnswer, Message: err.Error()} }

// check returns an [Error] if a request failed, or nil if the response has a stream to read. It closes the body of a failed
// response.
func check(ctx context.Context, res *http.Response, err error, key Key) error {
	if err != nil {
		return broken(ctx, err, key, ErrConnection)
	}
	if res.StatusCode >= 400 {
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		f := ParseFailure(text)
		f.Status, f.Header = res.StatusCode, res.Header
		return NewError(f, key)
	}
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	switch {
	case res.StatusCode >= 300:
		err = &Error{Kind: ErrRedirect, Status: res.StatusCode}
	case kind == "application/json" || kind == "text/html":
		err = &Error{Kind: ErrAnswer, Message: "expected a stream of events, got " + kind}
	default:
		return nil
	}
	return errors.Join(err, res.Body.Close())
}

// broken returns the [Error] for a connection that failed. Its kind is kind, unless err has a more
// specific cause.
func broken(ctx context.Context, err error, key Key, kind error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	for _, known := range []error{ErrStalled, ErrRedirect, ErrPlainHTTP, ErrTooLarge} {
		if errors.Is(err, known) {
			return &Error{Kind: known}
		}
	}
	if errors.Is(err, bufio.ErrTooLong) { // of an event
		return &Error{Kind: ErrTooLarge}
	}
	message := ""
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err // omit the URL, which the caller knows
	}
	if err != nil {
		message = key.Redact(err.Error())
	}
	return &Error{Kind: kind, Message: message}
}

// ParseFailure parses the JSON of an error: {"error": {"type", "code", "message"}}, the same in an
// array (Gemini), or {"code", "message"}. Any other text becomes the message.
func ParseFailure(text []byte) Failure {
	type detail struct {
		Type    string          `json:"type"`
		Status  string          `json:"status"`
		Code    json.RawMessage `json:"code"`
		Message string          `json:"message"`
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		text = list[0]
	}
	var outer struct {
		Error json.RawMessage `json:"error"`
		detail
	}
	if json.Unmarshal(text, &outer) != nil {
		return Failure{Message: oneLine(string(text))}
	}
	d := outer.detail
	if len(outer.Error) > 0 && json.Unmarshal(outer.Error, &d) != nil {
		var message string
		_ = json.Unmarshal(outer.Error, &message) // {"error": "text"}, as some servers send it
		d = detail{Message: message}
	}
	code := string(d.Code)
	if unquoted, err := strconv.Unquote(code); err == nil {
		code = unquoted
	}
	return Failure{Type: strings.TrimSpace(d.Type + " " + d.Status), Code: code, Message: oneLine(d.Message)}
}

func oneLine(s string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(s, "")), " ") }
