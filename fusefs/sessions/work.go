package sessions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// schedule starts the timer for the next work of a session.
func (st *state) schedule(s *sessionState) {
	if s.running || s.frozen > 0 || st.closed {
		return
	}
	if s.timer != nil {
		s.timer.Stop()
		s.timer = nil
	}
	due, ok := s.due()
	if !ok {
		return
	}
	s.timer = st.after(time.Until(due), func(t *Tree) { t.work(s) })
}

// due returns when the next work of a session is due, or false if it has none.
func (s *sessionState) due() (due time.Time, ok bool) {
	for _, q := range s.queue {
		if at, ended := q.at(); ended && (!ok || at.Before(due)) {
			due, ok = at, true
		}
	}
	if len(s.queue) > 0 || s.removal == nil || !s.removal.removing {
		return due, ok
	}
	return s.removal.due, true
}

func (t *Tree) work(s *sessionState) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.running || s.frozen > 0 {
		return
	}
	t.working.Add(1)
	defer t.working.Done()
	s.running = true
	for {
		due, ok := s.due()
		if !ok || due.After(time.Now()) || s.frozen > 0 {
			break
		}
		if len(s.queue) > 0 {
			t.save(s, s.queue[0])
		} else {
			t.remove(s)
		}
	}
	s.running = false
	t.idle.Broadcast()
	t.schedule(s)
}

// freeze waits for running work of the sessions, and prevents further work until
// [Tree.thaw]. It also locks their journals. t.mu must be held; it is released while
// waiting.
func (t *Tree) freeze(states ...*sessionState) {
	if len(states) == 2 {
		switch {
		case states[0] == states[1]:
			states = states[:1]
		case states[0].name > states[1].name:
			states = []*sessionState{states[1], states[0]}
		}
	}
	for {
		for _, s := range states {
			t.waitIdle(s)
		}
		t.mu.Unlock()
		for _, s := range states {
			s.journal.Lock()
		}
		t.mu.Lock()
		if !slices.ContainsFunc(states, func(s *sessionState) bool { return s.running || s.frozen > 0 }) {
			break
		}
		for _, s := range states {
			s.journal.Unlock()
		}
	}
	for _, s := range states {
		s.frozen++
	}
}

// thaw ends freeze. t.mu must be held.
func (t *Tree) thaw(states ...*sessionState) {
	if len(states) == 2 && states[0] == states[1] {
		states = states[:1]
	}
	for _, s := range states {
		s.frozen--
		s.journal.Unlock()
		t.schedule(s)
	}
	t.idle.Broadcast()
}

// waitIdle waits until a session has no running work. t.mu must be held; it is released
// while waiting.
func (t *Tree) waitIdle(s *sessionState) {
	for s.running || s.frozen > 0 {
		t.idle.Wait()
	}
}

// finish completes all work of a session now. t.mu must be held; it is released meanwhile.
func (t *Tree) finish(s *sessionState) {
	for {
		t.waitIdle(s)
		if s.force(time.Now()) == 0 {
			return
		}
		t.mu.Unlock()
		t.work(s)
		t.mu.Lock()
		if s.failing() {
			return
		}
	}
}

// force makes all work of a session due, and returns how many saves and removals that is.
func (s *sessionState) force(now time.Time) int {
	n := len(s.queue)
	for _, q := range s.queue {
		q.debounce.force(now)
	}
	if s.removal != nil && s.removal.removing {
		s.removal.due = now
		n++
	}
	return n
}

// failing reports whether the last attempt to do a session's work failed.
func (s *sessionState) failing() bool {
	return len(s.queue) > 0 && s.queue[0].failures > 0 || s.removal != nil && s.removal.failures > 0
}

// Close creates snapshots of all acknowledged saves, and ends the tree. Saves that fail
// stay in the journal, and the error names their sessions; saves that do not parse stay
// there, too.
func (t *Tree) Close(ctx context.Context) error {
	failing := []error{t.acknowledgeUnstored()}
	t.mu.Lock()
	stop := context.AfterFunc(ctx, t.cancel)
	defer stop()
	for _, s := range slices.Collect(maps.Values(t.sessions)) {
		t.finish(s)
		if stale := s.stale; len(stale) > 0 && s.removal == nil {
			s.stale = nil
			failing = append(failing, t.Journal.Delete(stale...))
		}
		if s.failing() {
			failing = append(failing, fmt.Errorf("session %q: a save is not stored yet; the next mount retries it", s.name))
		}
		if s.timer != nil {
			s.timer.Stop()
		}
	}
	if t.attachTimer != nil {
		t.attachTimer.Stop()
	}
	t.mu.Unlock()
	t.attach(t.ctx)
	t.mu.Lock()
	t.closed = true
	t.mu.Unlock()
	t.working.Wait()
	t.cancel()
	return errors.Join(failing...)
}
