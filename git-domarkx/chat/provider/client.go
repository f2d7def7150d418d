package provider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Limits of retries.
const (
	tries     = 5
	connects  = 3 // tries if the provider cannot be reached
	firstWait = time.Second
	maxWait   = 2 * time.Minute // if the provider asks for a longer wait, return the error instead
)

// A Client is a Wire that retries requests after temporary failures.
type Client struct {
	Wire
	// Sleep waits for d, or until ctx ends. If it is nil, a timer is used.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Stream is like [Wire.Stream], but retries a failed request as long as no part of the answer has
// arrived. It emits a [Notice] before each retry.
//
//   - If the provider is busy or has an internal error, Stream retries up to four times. It waits as
//     long as the provider asks for, or else with growing pauses. If the provider asks for more than
//     two minutes, Stream returns the error.
//   - If the provider cannot be reached, Stream retries up to twice.
//   - If the provider does not accept an id or a signature, Stream retries once without raw items.
func (c Client) Stream(ctx context.Context, r Request, emit func(Event)) (Answer, error) {
	began := false
	watch := func(e Event) {
		began = true
		emit(e)
	}
	for try := 1; ; try++ {
		answer, err := c.Wire.Stream(ctx, r, watch)
		if err == nil || ctx.Err() != nil || began {
			return answer, err
		}
		if errors.Is(err, ErrForeign) && SentRaw(r, c.Origin()) {
			emit(Notice(fmt.Sprintf("%s does not accept its own ids or signatures of earlier answers (%v); asking again without them", c.Origin().Provider, err)))
			r.Plain = true
			continue
		}
		wait, again := pause(err, try)
		if !again {
			return answer, err
		}
		emit(Notice(fmt.Sprintf("%v; trying again in %s", err, wait.Round(100*time.Millisecond))))
		if err := c.sleep(ctx, wait); err != nil {
			return answer, err
		}
	}
}

// pause returns how long to wait after a failed try, and whether to retry.
func pause(err error, try int) (time.Duration, bool) {
	passing := errors.Is(err, ErrBusy) || errors.Is(err, ErrServer) || errors.Is(err, ErrConnection) ||
		errors.Is(err, ErrStalled) || errors.Is(err, ErrCut)
	if !passing || try >= tries || try >= connects && errors.Is(err, ErrConnection) {
		return 0, false
	}
	var e *Error
	if errors.As(err, &e) && e.RetryAfter > 0 {
		return e.RetryAfter, e.RetryAfter <= maxWait
	}
	wait := firstWait << (try - 1)
	return wait + rand.N(wait/4), true
}

func (c Client) sleep(ctx context.Context, d time.Duration) error {
	if c.Sleep != nil {
		return c.Sleep(ctx, d)
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A Key is a provider's API key. It is never printed: every format shows "[key]".
type Key struct{ secret string }

// NewKey returns a key with the given text; "" stands for no key.
func NewKey(secret string) Key { return Key{secret} }

// Secret returns the text of the key. Only requests to the provider that the key belongs to may
// contain it.
func (k Key) Secret() string { return k.secret }

// IsZero reports whether the key is absent.
func (k Key) IsZero() bool { return k.secret == "" }

// Format implements [fmt.Formatter].
func (k Key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("[key]")) }

// MarshalText implements [encoding.TextMarshaler] without showing the key.
func (k Key) MarshalText() ([]byte, error) { return []byte("[key]"), nil }

// Redact replaces the key in a text, such as an error message of the provider.
func (k Key) Redact(text string) string {
	if k.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, k.secret, "[key]")
}
