package overlay

import (
	"context"
	"slices"
	"time"
)

// closing is how long the release of a closed file may take to arrive: the kernel
// sends it after close() has returned.
const closing = 100 * time.Millisecond

// Settle makes snapshots of what was acknowledged without waiting for its time, does
// the removals, and attaches images. It returns the sessions that still have a save or a removal in
// the journal, by name. What a program still writes is left alone where it is
// empty: a shell acknowledges the empty file before it writes the first byte.
func (t *Tree) Settle(ctx context.Context) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	stop := context.AfterFunc(ctx, t.wake)
	defer stop()
	grace := time.Now().Add(closing)
	var pending []string
	for _, name := range t.unsettled() {
		if !t.hurry(ctx, t.slots[name], grace) {
			pending = append(pending, name)
		}
	}
	t.mu.Unlock()
	t.attach(ctx)
	t.mu.Lock()
	return pending
}

// wake lets everybody who waits for a slot look at it again.
func (t *Tree) wake() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.idle.Broadcast()
}

// unsettled returns the sessions that have work to do, by name.
func (t *Tree) unsettled() []string {
	var names []string
	for name, s := range t.slots {
		if len(s.queue) > 0 || s.gone != nil && s.gone.removing {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// hurry does the work of a slot as soon as that is right, and reports whether it is
// done. With the lock held; it is given up meanwhile.
func (t *Tree) hurry(ctx context.Context, s *slot, grace time.Time) bool {
	tried := false
	for {
		t.waitIdle(s)
		now := time.Now()
		at, ok := s.ready(grace, t.Pace)
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

// ready returns when the next work of a slot can be done at the earliest; false when
// there is none.
func (s *slot) ready(grace time.Time, pace Pace) (at time.Time, ok bool) {
	for _, q := range s.queue {
		due, ended := q.at()
		switch empty := len(q.data) == 0; {
		case !ended && time.Now().Before(grace):
			return grace, true
		case !ended && empty: // its program has only opened it
			return time.Time{}, false
		case ended && empty: // perhaps the first half of a save
			return due, true
		}
		return time.Time{}, true
	}
	if s.gone == nil || !s.gone.removing {
		return time.Time{}, false
	}
	// The name may be made again at once.
	return s.gone.due.Add(pace.Settle - pace.Removal), true
}

// advance makes the next work of a slot due.
func (s *slot) advance(now time.Time) {
	if len(s.queue) > 0 {
		s.queue[0].force(now)
	} else if s.gone != nil {
		s.gone.due = now
	}
}
