package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// A signalError is the reason why a context was cancelled by a signal.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string { return fmt.Sprintf("ended by signal: %v", e.signal) }

// A signalWatch cancels the context of a command when the program is interrupted or terminated.
type signalWatch struct {
	signals chan os.Signal

	mu      sync.Mutex
	handler func(os.Signal) bool // nil if signals end the command
	ended   bool                 // a signal has ended the command
}

func (w *signalWatch) notify() { signal.Notify(w.signals, os.Interrupt, syscall.SIGTERM) }

// handle calls handler for the next signal, until restore is called. If handler returns true, the command continues, and the
// signal after that kills the program as usual. If it returns false, the signal ends the command.
func (w *signalWatch) handle(handler func(os.Signal) bool) (restore func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.handler = handler
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.handler = nil
		if !w.ended {
			w.notify()
		}
	}
}

func (w *signalWatch) handles(s os.Signal) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	signal.Stop(w.signals)
	w.ended = w.handler == nil || !w.handler(s)
	return !w.ended
}

// untilSignal returns a context that the first interrupt or termination signal cancels,
// with a signalError as the cause. The second signal kills the program as usual. SIGPIPE is
// not handled: when the reader of the output ends, the program ends without a message.
func untilSignal(parent context.Context) (context.Context, *signalWatch, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	watch := &signalWatch{signals: make(chan os.Signal, 1)}
	watch.notify()
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-watch.signals:
				if watch.handles(s) {
					continue
				}
				cancel(signalError{s.(syscall.Signal)})
			case <-done:
			}
			return
		}
	}()
	return ctx, watch, func() {
		signal.Stop(watch.signals)
		close(done)
		cancel(nil)
	}
}
