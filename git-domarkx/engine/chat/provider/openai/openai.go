// Package openai speaks the two wires of OpenAI: Responses
// (https://developers.openai.com/api/reference/resources/responses), and Chat Completions, which
// many other servers speak, also Gemini's OpenAI-compatible endpoint
// (https://ai.google.dev/gemini-api/docs/openai).
//
// A raw item of Responses is an output item as the provider sent it. The raw item of Chat
// Completions is the message: its strings arrive in pieces, which are joined without decoding
// them, and everything else is kept as it came.
package openai

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
	"github.com/openai/openai-go/v3/option"
)

// A wire is what both wires have in common.
type wire struct {
	origin  provider.Origin
	key     provider.Key
	options []option.RequestOption
}

func newWire(name string, base *url.URL, model string, key provider.Key, timeout time.Duration) wire {
	root := *base
	root.Path = strings.TrimSuffix(base.Path, "/") + "/"
	// sdk.NewClient would read URLs and keys from the environment, and link the services that
	// this program does not use, which doubles its size.
	options := []option.RequestOption{
		option.WithBaseURL(root.String()),
		option.WithHTTPClient(provider.HTTPClient(base, timeout)),
		option.WithMaxRetries(0), // see provider.Client
	}
	if !key.IsZero() {
		options = append(options, option.WithAPIKey(key.Secret()))
	}
	return wire{
		origin:  provider.Origin{Provider: name, Host: base.Host, Model: model},
		key:     key,
		options: options,
	}
}

func (w *wire) Origin() provider.Origin { return w.origin }

// with returns options by which a service of the SDK sends a body and leaves the response to the
// caller.
func with(body []byte, res **http.Response) []option.RequestOption {
	return []option.RequestOption{option.WithRequestBody("application/json", body), option.WithResponseBodyInto(res), option.WithHeader("Accept", "text/event-stream")}
}

// schema returns a tool's schema for the SDK. The values remain JSON, so that numbers stay as they
// are written.
func schema(t provider.Tool) (map[string]any, error) {
	members, err := provider.Members(t.Schema)
	if err != nil {
		return nil, fmt.Errorf("schema of the tool %s: %w", t.Name, err)
	}
	values := make(map[string]any, len(members))
	for _, m := range members {
		values[m.Name] = m.Value
	}
	return values, nil
}

func validID(id string) bool { return provider.IsName(id, 40) }

func invalid(err error) error { return &provider.Error{Kind: provider.ErrAnswer, Message: err.Error()} }
