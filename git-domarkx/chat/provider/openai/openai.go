// Package openai implements two APIs of OpenAI: Responses
// (https://developers.openai.com/api/reference/resources/responses) and Chat Completions. Many
// other servers implement the latter, such as Gemini's OpenAI-compatible endpoint
// (https://ai.google.dev/gemini-api/docs/openai).
//
// A raw item of Responses is an output item as received. The raw item of Chat Completions is the
// message: its strings arrive in pieces, which are joined without decoding them, and all other
// values remain as received.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// A wire holds the settings for requests to one model, by either API.
//
// It sends types of this package, not those of OpenAI's SDK: that registers its hundreds of types when a program starts, which a
// command pays that never asks a model, and 14 MB of the program would be its code.
type wire struct {
	origin provider.Origin
	key    provider.Key
	root   string // the URL, with a slash at its end
	client *http.Client
}

func newWire(name string, base *url.URL, model string, key provider.Key, timeout time.Duration) wire {
	root := *base
	root.Path = strings.TrimSuffix(base.Path, "/") + "/"
	return wire{
		origin: provider.Origin{Provider: name, Host: base.Host, Model: model},
		key:    key,
		root:   root.String(),
		client: provider.HTTPClient(base, timeout),
	}
}

func (w *wire) Origin() provider.Origin { return w.origin }

// post sends a request and returns the response if that is a stream of events, whose body the caller closes.
func (w *wire) post(ctx context.Context, path string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.root+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	if !w.key.IsZero() {
		request.Header.Set("Authorization", "Bearer "+w.key.Secret())
	}
	response, err := w.client.Do(request)
	if err := provider.Check(ctx, response, err, w.key); err != nil {
		return nil, err
	}
	return response, nil
}

// decode decodes JSON from a server. Members of other types than expected count as missing, because servers differ in what
// they send beside an answer.
func decode(data []byte, v any) error {
	var other *json.UnmarshalTypeError
	if err := json.Unmarshal(data, v); err != nil && !errors.As(err, &other) {
		return invalid(err)
	}
	return nil
}

// schema returns a tool's schema as a map. Its values remain JSON, so that numbers keep their notation.
func schema(t provider.Tool) (map[string]json.RawMessage, error) {
	members, err := provider.Members(t.Schema)
	if err != nil {
		return nil, fmt.Errorf("schema of the tool %s: %w", t.Name, err)
	}
	values := make(map[string]json.RawMessage, len(members))
	for _, m := range members {
		values[m.Name] = m.Value
	}
	return values, nil
}

func validID(id string) bool { return provider.IsName(id, 40) }

func invalid(err error) error { return &provider.Error{Kind: provider.ErrAnswer, Message: err.Error()} }
