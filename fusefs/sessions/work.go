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
	if s.busy() || st.closed {
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

// work does all work of a session that is due, unless it is busy or the tree is closed.
func (t *Tree) work(s *sessionState) {
	busy := false
	t.state.Do(func(st *state) {
		if busy = s.busy() || st.closed; !busy {
			s.running = true
			t.working.Add(1)
		}
	})
	if busy {
		return
	}
	defer t.working.Done()
	for {
		var q *save
		var g *pendingRemoval
		base := ""
		t.state.Do(func(st *state) {
			due, ok := s.due()
			switch {
			case !ok || due.After(time.Now()) || s.held:
				s.running = false
				st.schedule(s)
			case len(s.queue) > 0:
				q = s.queue[0]
				q.started, base = true, q.version.Base()
			default:
				g = s.removal
			}
		})
		switch {
		case q != nil:
			t.save(s, q, base)
		case g != nil:
			t.remove(s, g)
		default:
			return
		}
	}
}

// busy reports whether a goroutine works for the session, or holds it.
func (s *sessionState) busy() bool { return s.running || s.held }

// freeze waits for running work of the sessions, and prevents further work and
// acknowledgements until thaw.
func (t *Tree) freeze(states ...*sessionState) {
	t.state.When(func(*state) bool { return !slices.ContainsFunc(states, (*sessionState).busy) }, func(*state) {
		for _, s := range states {
			s.held = true
		}
	})
}

// thaw ends freeze.
func (t *Tree) thaw(states ...*sessionState) {
	t.state.Do(func(st *state) { st.thaw(states...) })
}

func (st *state) thaw(states ...*sessionState) {
	for _, s := range states {
		s.held = false
		st.schedule(s)
	}
}

// finish completes all work of a session now.
func (t *Tree) finish(s *sessionState) {
	for {
		left, failing := 0, false
		t.state.When(func(*state) bool { return !s.busy() }, func(*state) { left = s.force(time.Now()) })
		if left == 0 {
			return
		}
		t.work(s)
		if t.state.Do(func(*state) { failing = s.failing() }); failing {
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
	stop := context.AfterFunc(ctx, t.cancel)
	defer stop()
	var all []*sessionState
	t.state.Do(func(st *state) { all = slices.Collect(maps.Values(st.sessions)) })
	for _, s := range all {
		t.finish(s)
		var stale []string
		t.state.Do(func(*state) {
			if s.removal == nil {
				stale, s.stale = s.stale, nil
			}
			if s.failing() {
				failing = append(failing, fmt.Errorf("session %q: a save is not stored yet; the next mount retries it", s.name))
			}
			if s.timer != nil {
				s.timer.Stop()
			}
		})
		if len(stale) > 0 {
			failing = append(failing, t.Journal.Delete(stale...))
		}
	}
	t.state.Do(func(st *state) {
		if st.attachTimer != nil {
			st.attachTimer.Stop()
		}
	})
	t.attach(t.ctx)
	t.state.Do(func(st *state) { st.closed = true })
	t.working.Wait()
	t.cancel()
	return errors.Join(failing...)
}
