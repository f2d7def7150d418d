// Package anthropic speaks the Messages wire of Anthropic and compatible servers
// (https://platform.claude.com/docs/en/api/messages).
//
// A raw item is one content block of an answer. Blocks arrive in pieces: the block of
// content_block_start is kept as it came, and the strings of its deltas are joined without
// decoding them.
package anthropic

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/domarkx/domarkx/git-domarkx/engine/chat/provider"
)

// defaultMaxTokens is the length of an answer unless the request has one: the wire requires it.
const defaultMaxTokens = 16384

// A Wire sends requests to one model. It implements [provider.Wire].
type Wire struct {
	origin provider.Origin
	key    provider.Key
	client sdk.MessageService
	known  atomic.Int32 // the thinkingForm that the model accepts, or a preferred one
}

// New returns a wire to a model. base is checked by [provider.CheckURL], with or without
// "/v1" at the end. timeout limits the time without a byte.
func New(base *url.URL, model string, key provider.Key, timeout time.Duration) *Wire {
	root := *base
	root.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/v1") + "/" // the SDK adds v1
	// sdk.NewClient would read URLs and keys from the environment, and link the services that
	// this program does not use, which doubles its size.
	options := []option.RequestOption{
		option.WithBaseURL(root.String()),
		option.WithHTTPClient(provider.HTTPClient(base, timeout)),
		option.WithMaxRetries(0), // see provider.Client
		option.WithoutOpenTelemetry(),
	}
	if !key.IsZero() {
		options = append(options, option.WithAPIKey(key.Secret()))
	}
	return &Wire{
		origin: provider.Origin{Provider: "anthropic", Host: base.Host, Model: model},
		key:    key,
		client: sdk.NewMessageService(options...),
	}
}

// Origin implements [provider.Wire].
func (w *Wire) Origin() provider.Origin { return w.origin }

// Stream implements [provider.Wire]. A model that refuses a form of reasoning is asked again with an
// older one; a refused request costs nothing.
func (w *Wire) Stream(ctx context.Context, r provider.Request, emit func(provider.Event)) (provider.Answer, error) {
	for form := thinkingForm(w.known.Load()); ; form++ {
		answer, err := w.stream(ctx, r, form, emit)
		if r.Reasoning == "" || form == unset || !refusesThinking(err) {
			return answer, err
		}
		if form+1 == unset {
			emit(provider.Notice("the model does not accept the setting of its reasoning; asking again without it"))
		}
		w.known.Store(int32(form + 1))
	}
}

func (w *Wire) stream(ctx context.Context, r provider.Request, form thinkingForm, emit func(provider.Event)) (provider.Answer, error) {
	body, err := requestBody(w.origin, r, form)
	if err != nil {
		return provider.Answer{}, err
	}
	var res *http.Response
	err = w.client.NewStreaming(ctx, sdk.MessageNewParams{}, option.WithRequestBody("application/json", body),
		option.WithResponseBodyInto(&res), option.WithHeader("Accept", "text/event-stream")).Err()
	if err := provider.Check(ctx, res, err, w.key); err != nil {
		return provider.Answer{}, err
	}
	defer res.Body.Close()
	a := &answer{collector: provider.NewCollector(emit), key: w.key}
	err = a.read(ctx, res)
	return a.collector.Finish(w.origin, a.items, err)
}

func rules(o provider.Origin) provider.Rules {
	return provider.Rules{Origin: o, ValidID: validID, CallIDs: callIDs}
}

func validID(id string) bool { return provider.IsName(id, 128) }
