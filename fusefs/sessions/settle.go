package sessions

import (
	"context"
	"slices"
	"time"
)

// closing is how long the release of a closed file may take to arrive: the kernel sends
// it after close() has returned.
const closing = 100 * time.Millisecond

// Settle creates snapshots of acknowledged saves now, completes removals and attaches
// images. It returns the sessions that still have a save or a removal in the journal,
// sorted by name. It skips an empty file that a program still has open: a shell creates
// the file before it writes the first byte.
func (t *Tree) Settle(ctx context.Context) []string {
	if err := t.acknowledgeUnstored(); err != nil {
		t.Logger.Error("storing what programs wrote", "err", err)
	}
	stop := context.AfterFunc(ctx, t.wake)
	defer stop()
	grace := time.Now().Add(closing)
	var unsettled, pending []string
	t.state.Do(func(st *state) { unsettled = st.unsettled() })
	for _, name := range unsettled {
		if !t.settleSession(ctx, t.session(name), grace) {
			pending = append(pending, name)
		}
	}
	t.attach(ctx)
	return pending
}

// wake wakes all goroutines that wait for a session.
func (t *Tree) wake() { t.state.Do(func(*state) {}) }

// unsettled returns the sessions with queued or running work, sorted by name. It includes
// running work without a queue, which may still write to the journal.
func (st *state) unsettled() []string {
	var names []string
	for name, s := range st.sessions {
		if s.running || len(s.queue) > 0 || s.removal != nil && s.removal.removing {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// settleSession completes the work of a session as soon as possible. It reports false if
// the work failed, if ctx was cancelled, or if the tree was closed.
func (t *Tree) settleSession(ctx context.Context, s *sessionState, grace time.Time) bool {
	alarm := time.AfterFunc(closing, t.wake)
	defer alarm.Stop()
	for tried := false; ; tried = true {
		var settled, failed bool
		t.state.When(func(st *state) bool {
			if s.busy() {
				return false
			}
			now := time.Now()
			at, ok := s.ready(grace, st.timing)
			settled, failed = !ok, ok && (ctx.Err() != nil || st.closed || tried && s.failing())
			if settled || failed || !at.After(now) {
				return true
			}
			alarm.Reset(at.Sub(now))
			return false
		}, func(*state) {
			switch {
			case settled || failed:
			case len(s.queue) > 0:
				s.queue[0].force(time.Now())
			case s.removal != nil:
				s.removal.due = time.Now()
			}
		})
		if settled || failed {
			return settled
		}
		t.work(s)
	}
}

// ready returns the earliest time at which the next work of a session can be done, or
// false if it has none.
func (s *sessionState) ready(grace time.Time, timing Timing) (at time.Time, ok bool) {
	if len(s.queue) > 0 {
		due, ended := s.queue[0].at()
		switch empty := len(s.queue[0].data) == 0; {
		case !ended && time.Now().Before(grace):
			return grace, true
		case !ended && empty: // a program has only created the file
			return time.Time{}, false
		case ended && empty: // perhaps the first half of a save
			return due, true
		}
		return time.Time{}, true
	}
	if s.removal == nil || !s.removal.removing {
		return time.Time{}, false
	}
	// A program may create the name again right after it removed it.
	return s.removal.due.Add(timing.Settle - timing.Removal), true
}
