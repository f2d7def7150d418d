// Package anthropic implements the Messages API of Anthropic and compatible servers
// (https://platform.claude.com/docs/en/api/messages).
//
// A raw item is one content block of an answer. Blocks arrive in parts: the JSON of
// content_block_start remains as it was received, and the strings of its deltas are joined without
// decoding them.
package anthropic

import (
	"context"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
)

// defaultMaxTokens is max_tokens for requests without a limit, since the API requires one.
const defaultMaxTokens = 16384

// A Wire sends requests to one model. It implements [provider.Wire].
type Wire struct {
	provider.Endpoint
	known atomic.Int32 // the thinkingForm to try first
}

// New returns a wire to a model. base must satisfy [provider.CheckURL]; it may end with "/v1".
// timeout is the maximum time without a received byte.
func New(base *url.URL, model string, key provider.Key, timeout time.Duration) *Wire {
	at := *base
	at.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/v1")
	return &Wire{Endpoint: provider.NewEndpoint("anthropic", &at, model, key, timeout)}
}

// Stream implements [provider.Wire]. If the model refuses a form of reasoning, Stream asks again
// with an older form. Refused requests cost nothing.
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
	body, err := requestBody(w.Origin(), r, form)
	if err != nil {
		return provider.Answer{}, err
	}
	header := w.Header("X-Api-Key", "")
	header.Set("Anthropic-Version", version)
	a := newAnswer(emit)
	err = w.Ask(ctx, "v1/messages", header, body, &a.Stream, a.event)
	return a.Finish(w.Origin(), err)
}
