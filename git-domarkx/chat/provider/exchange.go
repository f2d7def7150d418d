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

	"github.com/openai/openai-go/v3/packages/ssestream"
)

// Post sends a request with JSON and returns the response if that is a stream of events, whose body the caller closes. The header
// may be changed.
func Post(ctx context.Context, client *http.Client, url string, header http.Header, body []byte, key Key) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	header.Set("Content-Type", "application/json")
	header.Set("Accept", "text/event-stream")
	request.Header = header
	response, err := client.Do(request)
	if err := check(ctx, response, err, key); err != nil {
		return nil, err
	}
	return response, nil
}

// ReadEvents calls event for each event of a response until done is set. If the response ends before, the
// answer is whole if mayEnd is set.
func ReadEvents(ctx context.Context, response *http.Response, key Key, event func(data []byte) error, done, mayEnd *bool) error {
	events := ssestream.NewDecoder(response)
	for !*done && events.Next() {
		if err := event(events.Event().Data); err != nil {
			return err
		}
	}
	if *done || *mayEnd && events.Err() == nil {
		return nil
	}
	return Broken(ctx, events.Err(), key, ErrCut)
}

// Decode decodes JSON from a server. Members of other types than expected count as missing, because servers differ in what
// they send beside an answer.
func Decode(data []byte, v any) error {
	var other *json.UnmarshalTypeError
	if err := json.Unmarshal(data, v); err != nil && !errors.As(err, &other) {
		return Invalid(err)
	}
	return nil
}

// Invalid returns the error for an answer that is not valid.
func Invalid(err error) error { return &Error{Kind: ErrAnswer, Message: err.Error()} }

// check returns an [Error] if a request failed, or nil if the response has a stream to read. It closes the body of a failed
// response.
func check(ctx context.Context, res *http.Response, err error, key Key) error {
	if res != nil && res.Body != nil && res.StatusCode >= 400 {
		defer res.Body.Close()
		text, _ := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
		f := ParseFailure(text)
		f.Status, f.Header = res.StatusCode, res.Header
		return NewError(f, key)
	}
	if err != nil || res == nil {
		return Broken(ctx, err, key, ErrConnection)
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

// Broken returns the [Error] for a connection that failed. Its kind is kind, unless err has a more
// specific cause.
func Broken(ctx context.Context, err error, key Key, kind error) error {
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
