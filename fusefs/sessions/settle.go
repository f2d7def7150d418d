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
	t.mu.Lock()
	defer t.mu.Unlock()
	stop := context.AfterFunc(ctx, t.wake)
	defer stop()
	grace := time.Now().Add(closing)
	var pending []string
	for _, name := range t.unsettled() {
		if !t.settleSession(ctx, t.sessions[name], grace) {
			pending = append(pending, name)
		}
	}
	t.mu.Unlock()
	t.attach(ctx)
	t.mu.Lock()
	return pending
}

// wake wakes all goroutines that wait for a session.
func (t *Tree) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle.Broadcast()
}

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
// the work failed, if ctx was cancelled, or if the tree was closed. t.mu must be held; it
// is released while waiting.
func (t *Tree) settleSession(ctx context.Context, s *sessionState, grace time.Time) bool {
	tried := false
	for {
		t.waitIdle(s)
		now := time.Now()
		at, ok := s.ready(grace, t.Timing)
		switch {
		case !ok:
			return true
		case ctx.Err() != nil, t.closed, tried && s.failing():
			return false
		case at.After(now):
			alarm := time.AfterFunc(at.Sub(now), t.wake)
			t.idle.Wait()
			alarm.Stop()
			continue
		}
		tried = true
		s.advance(now)
		t.mu.Unlock()
		t.work(s)
		t.mu.Lock()
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

// advance makes the next work of a session due.
func (s *sessionState) advance(now time.Time) {
	if len(s.queue) > 0 {
		s.queue[0].force(now)
	} else if s.removal != nil {
		s.removal.due = now
	}
}
