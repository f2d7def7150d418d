package provider

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The kinds of failures, for [errors.Is].
var (
	ErrContext    = errors.New("the conversation does not fit the model's context window")
	ErrForeign    = errors.New("the provider does not accept the request or an earlier answer in it")
	ErrKey        = errors.New("the provider does not accept the key")
	ErrRequest    = errors.New("the provider does not accept the request")
	ErrBusy       = errors.New("the provider is busy") // a rate limit or overload
	ErrServer     = errors.New("the provider failed")
	ErrConnection = errors.New("the provider cannot be reached")
	ErrStalled    = errors.New("the provider stopped sending")
	ErrCut        = errors.New("the answer breaks off")
	ErrAnswer     = errors.New("the answer is not valid")
	ErrTooLarge   = errors.New("the answer is too large")
	ErrRedirect   = errors.New("the provider redirects, which is not followed")
	ErrPlainHTTP  = errors.New("plain HTTP is only for this machine; use https")
)

// An Error is the failure of a request. It unwraps to its Kind.
type Error struct {
	Kind       error  // one of the Err variables of this package
	Status     int    // status of the HTTP response; 0 without one
	Message    string // the provider's message, without the key
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	text := e.Kind.Error()
	if e.Status != 0 {
		text += fmt.Sprintf(" (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// Unwrap returns the kind.
func (e *Error) Unwrap() error { return e.Kind }

// A Failure is an error as reported by a provider.
type Failure struct {
	Status  int         // status of the HTTP response; 0 for an error inside a stream
	Header  http.Header // header of the response; may be nil
	Type    string      // such as "invalid_request_error" or "rate_limit_exceeded"
	Code    string
	Message string
}

// maxMessage is the maximum length in bytes of the provider's message in an error.
const maxMessage = 2000

// NewError returns the [Error] for a failure. It removes key from the message.
func NewError(f Failure, key Key) *Error {
	message := key.Redact(f.Message)
	if message == "" {
		message = strings.Trim(f.Type+" "+f.Code, " ")
	}
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return &Error{Kind: kindOf(f), Status: f.Status, Message: message, RetryAfter: retryAfter(f.Header, time.Now)}
}

func kindOf(f Failure) error {
	name := strings.ToLower(f.Type + " " + f.Code)
	text := strings.ToLower(f.Message)
	switch {
	case containsAny(name, "context_length_exceeded", "exceed_context_size", "request_too_large") ||
		containsAny(text, "prompt is too long", "maximum context length", "context window", "context length", "context size",
			"input token count", "too many tokens", "exceeds the maximum number of tokens"):
		return ErrContext
	case f.Status == http.StatusRequestEntityTooLarge:
		return ErrContext
	case f.Status == http.StatusUnauthorized || f.Status == http.StatusForbidden || strings.Contains(name, "authentication_error"):
		return ErrKey
	case strings.Contains(name, "insufficient_quota") || strings.Contains(name, "billing"):
		return ErrRequest // waiting does not help
	case f.Status == http.StatusTooManyRequests || f.Status == 529 || f.Status == http.StatusServiceUnavailable ||
		containsAny(name, "rate_limit", "overloaded", "resource_exhausted", "slow_down"):
		return ErrBusy
	case f.Status >= 500 || f.Status == http.StatusRequestTimeout || containsAny(name, "api_error", "server_error", "timeout_error", "internal"):
		return ErrServer
	case containsAny(name+" "+text, "signature", "encrypted", "thinking", "thought", "reasoning", "tool_use", "tool_result",
		"tool_call", "call_id", "tool call", "function call", "function response", "item '", "item with id"):
		return ErrForeign
	}
	return ErrRequest
}

func containsAny(s string, parts ...string) bool {
	return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(s, p) })
}

// retryAfter returns how long a response asks to wait: Retry-After in seconds or as a date (RFC
// 9110, section 10.2.3), or OpenAI's Retry-After-Ms in milliseconds.
func retryAfter(h http.Header, now func() time.Time) time.Duration {
	if d, err := time.ParseDuration(h.Get("Retry-After-Ms") + "ms"); err == nil && d > 0 {
		return d
	}
	text := h.Get("Retry-After")
	if d, err := time.ParseDuration(text + "s"); err == nil && d > 0 {
		return d
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now()))
	}
	return 0
}
