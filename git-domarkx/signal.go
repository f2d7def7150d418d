package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// A signalError is the cause of a command that was ended by a signal.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("ended by signal: %v", e.signal) }

// untilSignal returns a context that the first interrupt or termination signal cancels,
// with a signalError as the cause. The second signal kills the program as usual. SIGPIPE
// is not handled: when the reader of the output leaves, the program ends silently.
func untilSignal(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(signalError{s.(syscall.Signal)})
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
