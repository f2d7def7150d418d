package recording

import (
	"context"
)

// An Observer acts on events, for example by taking versions of work trees. The watcher calls it
// for one event after another, in the order in which they happened, and goes on importing
// meanwhile.
type Observer interface {
	// Take acts on an event. It may call late at any time, to learn whether the agent may have
	// begun another call, which can change files, since the event.
	Take(ctx context.Context, e Event, late func() bool) error
}

// A notice is an event that waits for the observer.
type notice struct {
	Event
	late func() bool
}

// maxEvents is how many events may wait for an observer. The oldest are dropped.
const maxEvents = 1000

// notice passes an event on. It does not wait.
func (w *Watcher) notice(e notice) {
	for w.Observer != nil {
		select {
		case w.events <- e:
			return
		default:
		}
		select {
		case dropped := <-w.events:
			w.Logger.Warn("an event was dropped", "agent", dropped.Agent, "event", dropped.Name)
		default:
		}
	}
}

// observe calls the observer until the context ends.
func (w *Watcher) observe(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case e := <-w.events:
			if err := w.Observer.Take(ctx, e.Event, e.late); err != nil && ctx.Err() == nil {
				w.Logger.Warn("observing a work tree", "agent", e.Agent, "session", e.Session, "err", err)
			}
		}
	}
}
