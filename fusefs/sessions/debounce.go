package sessions

import "time"

// A debounce decides when a save is complete: some time after the last fsync or release
// that belongs to it, with a limit after the first. The zero value waits for the first.
type debounce struct {
	first, due time.Time
}

// touch records an fsync or release. An empty document waits until the limit: it is often
// only the first half of a save.
func (s *debounce) touch(now time.Time, empty bool, timing Timing) {
	if s.first.IsZero() {
		s.first = now
	}
	limit := s.first.Add(timing.Limit)
	s.due = now.Add(timing.Settle)
	if empty || s.due.After(limit) {
		s.due = limit
	}
}

// force makes the save due now.
func (s *debounce) force(now time.Time) { s.first, s.due = now, now }

// at returns when the save is complete, or false if no fsync or release was recorded.
func (s *debounce) at() (time.Time, bool) { return s.due, !s.first.IsZero() }
