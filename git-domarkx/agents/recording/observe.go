package recording

import (
	"context"
	"log/slog"
)

// An Observer acts on events, for example by taking versions of work trees. The watcher calls it
// for one event after another, in the order in which they happened, and goes on importing
// meanwhile.
type Observer interface {
	// Take acts on an event. It may call late at any time, to learn whether the agent may have
	// begun another call, which can change files, since the event.
	Take(ctx context.Context, e Event, late func() bool) error
}

// A notice is an event in the queue of an observer.
type notice struct {
	Event
	late func() bool
}

// observers queues events and passes them to an observer, one after another.
type observers struct {
	observer Observer
	logger   *slog.Logger
	events   chan notice
}

// maxEvents is how many events may wait for an observer. The oldest are dropped.
const maxEvents = 1000

func newObservers(observer Observer, logger *slog.Logger) *observers {
	return &observers{observer, logger, make(chan notice, maxEvents)}
}

// add passes an event on. It does not wait.
func (o *observers) add(e notice) {
	if o.observer == nil {
		return
	}
	for {
		select {
		case o.events <- e:
			return
		default:
		}
		select {
		case dropped := <-o.events:
			o.logger.Warn("an event was dropped", "agent", dropped.Agent, "event", dropped.Name)
		default:
		}
	}
}

// start calls the observer until the context ends. The channel is closed then.
func (o *observers) start(ctx context.Context) <-chan struct{} {
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-ctx.Done():
				return
			case e := <-o.events:
				if err := o.observer.Take(ctx, e.Event, e.late); err != nil && ctx.Err() == nil {
					o.logger.Warn("observing a work tree", "agent", e.Agent, "session", e.Session, "err", err)
				}
			}
		}
	}()
	return stopped
}
