package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// A signalError is the cause of a command that was ended by a signal.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("ended by signal: %v", e.signal) }

// A signalWatch cancels the context of a command when the program is interrupted or
// terminated.
type signalWatch struct {
	mu      sync.Mutex
	handler func(os.Signal) bool // nil if signals end the command
}

// handle makes a function decide about signals until the returned function is called. A
// signal for which it returns false ends the command.
func (w *signalWatch) handle(handler func(os.Signal) bool) (restore func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.handler
	w.handler = handler
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.handler = before
	}
}

func (w *signalWatch) handles(s os.Signal) bool {
	w.mu.Lock()
	handler := w.handler
	w.mu.Unlock()
	return handler != nil && handler(s)
}

// untilSignal returns a context that the first interrupt or termination signal cancels,
// with a signalError as the cause. The second signal kills the program as usual. SIGPIPE
// is not handled: when the reader of the output leaves, the program ends silently.
func untilSignal(parent context.Context) (context.Context, *signalWatch, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	watch := &signalWatch{}
	go func() {
		for {
			select {
			case s := <-signals:
				if watch.handles(s) {
					continue
				}
				signal.Stop(signals)
				cancel(signalError{s.(syscall.Signal)})
			case <-done:
			}
			return
		}
	}()
	return ctx, watch, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}
