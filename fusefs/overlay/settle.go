package overlay

import "time"

// A settling says when a save is complete: some time after the last fsync or
// release that belongs to it, but not too long after the first. Its zero value
// waits for the first.
type settling struct {
	first, due time.Time
}

// touch takes note of an fsync or release. An empty document waits as long as it
// may: it is often only the first half of a save.
func (s *settling) touch(now time.Time, empty bool, pace Pace) {
	if s.first.IsZero() {
		s.first = now
	}
	limit := s.first.Add(pace.Limit)
	s.due = now.Add(pace.Settle)
	if empty || s.due.After(limit) {
		s.due = limit
	}
}

// force makes it due at once.
func (s *settling) force(now time.Time) { s.first, s.due = now, now }

// at returns when the save is complete; false while nobody ended it.
func (s *settling) at() (time.Time, bool) { return s.due, !s.first.IsZero() }
