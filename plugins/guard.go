package plugins

import (
	"context"
	"errors"
	"runtime/debug"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// errAbandoned reports that a plugin kept working after its context ended.
var errAbandoned = &domarkx.ToolError{Code: domarkx.CodeBroken, Message: "the plugin does not answer, and did not stop when its time ran out"}

// guard runs a plugin's code. It turns a panic into an error, and abandons code that does
// not return within grace after its context ended. busy, unless nil, is closed when the code
// returns, which is before guard returns unless the code was abandoned.
func guard[T any](ctx context.Context, grace time.Duration, busy chan struct{}, f func(context.Context) (T, error)) (T, error) {
	type answer struct {
		v   T
		err error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				const longest = 4 << 10
				stack := debug.Stack()
				a.err = domarkx.NewToolError(domarkx.CodeBroken, "the plugin panicked: %v\n%s", p, stack[:min(len(stack), longest)])
			}
			if busy != nil {
				close(busy) // before the send: whoever receives the answer may use the resource at once
			}
			answers <- a
		}()
		a.v, a.err = f(ctx)
	}()
	select {
	case a := <-answers:
		return a.v, a.err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case a := <-answers:
		return a.v, a.err
	case <-timer.C:
		var none T
		return none, errors.Join(errAbandoned, ctx.Err())
	}
}

// nothing adapts a function that returns only an error, so that guard can run it.
func nothing(f func(context.Context) error) func(context.Context) (struct{}, error) {
	return func(ctx context.Context) (struct{}, error) { return struct{}{}, f(ctx) }
}
