package overlay

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// poke sees to it that a slot's work is done when it is due.
func (t *Tree) poke(s *slot) {
	if s.running || s.frozen > 0 || t.closed {
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
	s.timer = time.AfterFunc(time.Until(due), func() { t.work(s) })
}

// due returns when the next thing is to be done for a slot.
func (s *slot) due() (due time.Time, ok bool) {
	for _, q := range s.queue {
		if at, ended := q.at(); ended && (!ok || at.Before(due)) {
			due, ok = at, true
		}
	}
	if len(s.queue) > 0 || s.gone == nil || !s.gone.removing {
		return due, ok
	}
	return s.gone.due, true
}

// work does what is due for a slot.
func (t *Tree) work(s *slot) {
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
	t.poke(s)
}

// hold keeps all work on slots from going on, and waits for what is under way: the
// slots' journals are held until [Tree.letGo]. With the lock held; it is given up
// meanwhile.
func (t *Tree) hold(slots ...*slot) {
	if len(slots) == 2 {
		switch {
		case slots[0] == slots[1]:
			slots = slots[:1]
		case slots[0].name > slots[1].name:
			slots = []*slot{slots[1], slots[0]}
		}
	}
	for {
		for _, s := range slots {
			t.waitIdle(s)
		}
		t.mu.Unlock()
		for _, s := range slots {
			s.journal.Lock()
		}
		t.mu.Lock()
		if !slices.ContainsFunc(slots, func(s *slot) bool { return s.running || s.frozen > 0 }) {
			break
		}
		for _, s := range slots {
			s.journal.Unlock()
		}
	}
	for _, s := range slots {
		s.frozen++
	}
}

// letGo ends hold. With the lock held.
func (t *Tree) letGo(slots ...*slot) {
	if len(slots) == 2 && slots[0] == slots[1] {
		slots = slots[:1]
	}
	for _, s := range slots {
		s.frozen--
		s.journal.Unlock()
		t.poke(s)
	}
	t.idle.Broadcast()
}

// waitIdle waits until no work is under way for a slot. With the lock held.
func (t *Tree) waitIdle(s *slot) {
	for s.running || s.frozen > 0 {
		t.idle.Wait()
	}
}

// finish does all work of a slot now, and waits for it. With the lock held; it is
// given up meanwhile.
func (t *Tree) finish(s *slot) {
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

// force makes everything due, and returns how much that is.
func (s *slot) force(now time.Time) int {
	n := len(s.queue)
	for _, q := range s.queue {
		q.settling.force(now)
	}
	if s.gone != nil && s.gone.removing {
		s.gone.due = now
		n++
	}
	return n
}

// failing reports whether the last try to do the slot's work failed.
func (s *slot) failing() bool {
	return len(s.queue) > 0 && s.queue[0].failures > 0 || s.gone != nil && s.gone.failures > 0
}

// Close makes snapshots of all that was acknowledged. What cannot become one stays
// in the journal; the error says so.
func (t *Tree) Close(ctx context.Context) error {
	t.mu.Lock()
	stop := context.AfterFunc(ctx, t.cancel)
	defer stop()
	var failing []error
	for _, s := range slices.Collect(maps.Values(t.slots)) {
		t.finish(s)
		if stale := s.stale; len(stale) > 0 && s.gone == nil {
			s.stale = nil
			failing = append(failing, t.Journal.Delete(stale...))
		}
		if s.failing() {
			failing = append(failing, fmt.Errorf("session %q: what was saved is kept, and tried again by the next mount", s.name))
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
