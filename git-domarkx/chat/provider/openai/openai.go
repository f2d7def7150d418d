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
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/openai/openai-go/v3/option"
)

// A wire holds the settings for requests to one model, by either API.
type wire struct {
	origin  provider.Origin
	key     provider.Key
	options []option.RequestOption
}

func newWire(name string, base *url.URL, model string, key provider.Key, timeout time.Duration) wire {
	root := *base
	root.Path = strings.TrimSuffix(base.Path, "/") + "/"
	// sdk.NewClient would read URLs and keys from the environment. It would also link services that
	// this program does not use, which doubles the size of the program.
	options := []option.RequestOption{
		option.WithBaseURL(root.String()),
		option.WithHTTPClient(provider.HTTPClient(base, timeout)),
		option.WithMaxRetries(0), // provider.Client repeats requests
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

// with returns options to send a body unchanged and to store the response in *res, whose body the
// caller reads.
func with(body []byte, res **http.Response) []option.RequestOption {
	return []option.RequestOption{option.WithRequestBody("application/json", body), option.WithResponseBodyInto(res), option.WithHeader("Accept", "text/event-stream")}
}

// schema returns a tool's schema as a map for the SDK. Its values remain JSON, so that numbers keep
// their notation.
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
