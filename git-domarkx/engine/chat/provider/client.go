package provider

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Limits of repeated requests.
const (
	tries     = 5
	connects  = 3 // tries of a provider that cannot be reached
	firstWait = time.Second
	maxWait   = 2 * time.Minute // a provider that asks for more gets an error instead
)

// A Client repeats requests that fail for a passing reason.
type Client struct {
	Wire
	// Sleep waits unless ctx ends first. nil means a timer.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Stream is [Wire.Stream] with these repetitions, each announced by a [Notice]:
//
//   - While nothing of an answer has arrived, a request that fails because the provider is busy
//     or failing is repeated up to four times, after the time that the provider asks
//     for or with growing pauses; one that cannot be reached, up to twice. If the provider asks for
//     more than two minutes, the error is returned.
//   - If the provider does not accept an id or a signature, the request is repeated once without
//     the raw items.
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

// pause returns how long to wait after a failed try, and whether to try again at all.
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
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A Key is a provider's API key. It is never printed: every format shows "[key]".
type Key struct{ secret string }

// NewKey returns the key with this text; "" stands for no key.
func NewKey(secret string) Key { return Key{secret} }

// Secret returns the key's text, which only a request to the key's own provider may hold.
func (k Key) Secret() string { return k.secret }

// IsZero reports whether the key is absent.
func (k Key) IsZero() bool { return k.secret == "" }

// Format implements [fmt.Formatter].
func (k Key) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte("[key]")) }

// MarshalText implements [encoding.TextMarshaler] without showing the key.
func (k Key) MarshalText() ([]byte, error) { return []byte("[key]"), nil }

// Redact replaces the key in a text that may repeat it.
func (k Key) Redact(text string) string {
	if k.secret == "" {
		return text
	}
	return strings.ReplaceAll(text, k.secret, "[key]")
}
