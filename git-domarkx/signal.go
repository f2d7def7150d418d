package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// A signalError says that a signal ended the command.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("ended by signal: %v", e.signal) }

// untilSignal returns a context that ends, with a signalError as its cause, at
// the first interrupt or termination signal; the second one kills as usual.
// SIGPIPE keeps its meaning: a reader that leaves ends the program quietly.
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
