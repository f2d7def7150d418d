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
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// A wire holds the settings for requests to one model, by either API.
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
	header := http.Header{}
	if !w.key.IsZero() {
		header.Set("Authorization", "Bearer "+w.key.Secret())
	}
	return provider.Post(ctx, w.client, w.root+path, header, body, w.key)
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
