package sessions

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// A save is an acknowledged content that will become a snapshot.
type save struct {
	debounce
	key      string // of its draft
	file     *File
	version  *basis.Version
	data     []byte
	started  bool
	ended    bool  // its last acknowledgement was an fsync or a release
	earlier  *save // the save that it replaces; its draft is deleted when this one has ended
	failures int
}

// save creates a snapshot of the first queued save of a session, which is based on the
// snapshot base.
func (t *Tree) save(s *sessionState, q *save, base string) {
	r, err := t.Saver.Save(t.ctx, s.name, base, q.data)
	switch {
	case err == nil:
		t.saved(s, q, r)
	case hopeless(err):
		t.Logger.Info("a save cannot become a snapshot", "session", s.name, "problem", err)
		t.broken(s, q, err)
	default:
		t.Logger.Error("creating a snapshot", "session", s.name, "err", err)
		t.state.Do(func(st *state) { st.failed(s, q, err) })
	}
}

// hopeless reports whether a retry of a save would fail with the same error.
func hopeless(err error) bool {
	var syntax *syntax.Error
	return errors.As(err, &syntax) || errors.Is(err, domarkx.ErrInvalid) || errors.Is(err, domarkx.ErrExists) || errors.Is(err, domarkx.ErrUnsupported)
}

// saved records that the first queued save of a session is a snapshot now.
func (t *Tree) saved(s *sessionState, q *save, r SaveResult) {
	var done []string
	var notice *saveError
	t.state.Do(func(st *state) { done, notice = st.saved(s, q, r) })
	var later []drafts.Draft
	t.state.When(func(*state) bool { return !s.held }, func(*state) {
		s.held = true
		later = append(s.rebased(), s.removalDraft()...)
		done = append(done, q.keys()...)
	})
	if notice != nil {
		later = append(later, notice.draft(s.name, ""))
		done = slices.DeleteFunc(done, func(key string) bool { return key == q.key })
	}
	t.rewrite(s, later, done)
	t.thaw(s)
}

// rewrite updates drafts of a session in the journal, and then deletes those that are done.
func (t *Tree) rewrite(s *sessionState, later []drafts.Draft, done []string) {
	err := t.record(later...)
	if err == nil {
		err = t.Journal.Delete(done...)
		done = nil
	}
	if err != nil {
		t.Logger.Error("updating the journal", "session", s.name, "err", err)
	}
	t.state.Do(func(*state) { s.stale = append(s.stale, done...) }) // not deleted, because other drafts may refer to them
}

// saved takes the first queued save of a session, which is a snapshot now, from the
// queue. It returns the keys of the drafts of errors that the save resolves, and the
// notice of a merge.
func (st *state) saved(s *sessionState, q *save, r SaveResult) (mended []string, notice *saveError) {
	mended = s.mended(q, r.Merged)
	q.version.ID = r.Saved
	if !r.Merged && q.version.ID == "" {
		q.version.ID = r.Info.ID
	}
	same := q.version.ID == r.Info.ID
	if f := q.file; f.version == q.version && !f.dirty {
		if q.version.ID != "" {
			f.id, f.size = q.version.ID, f.length()
			f.shed()
		}
		if s.file == f && !same {
			s.file = nil // the name now shows the merged document
			if f.opens == 0 {
				f.name = ""
			}
		}
	}
	if q.version.ID != "" {
		q.version.Prev = nil
	}
	if s.removal != nil {
		s.removal.tip = r.Info.ID
	}
	s.queue = s.queue[1:]
	st.epoch++
	st.attachSoon()
	if r.Merged {
		notice = &saveError{State: drafts.Merged, Problem: mergedProblem, Data: q.data, key: q.key, version: q.version, at: time.Now()}
		s.saveErrors = append(s.saveErrors, notice)
	}
	return mended, notice
}

// keys returns the keys of a save's drafts.
func (q *save) keys() []string {
	if q.earlier == nil {
		return []string{q.key}
	}
	return []string{q.earlier.key, q.key}
}

const mergedProblem = "The session had changed since this was read. Both changes are in it now, and sessions/ shows them."

// rebased returns the drafts of the queued saves as they are after a save that they were
// made from became a snapshot.
func (s *sessionState) rebased() []drafts.Draft {
	var later []drafts.Draft
	for _, q := range s.queue {
		if q.started {
			continue
		}
		if q.earlier != nil {
			later = append(later, s.draft(q.earlier))
		}
		later = append(later, s.draft(q))
	}
	return later
}

func (s *sessionState) draft(q *save) drafts.Draft {
	d := drafts.Draft{Key: q.key, Name: s.name, Base: q.version.Base(), State: drafts.Saved, Data: q.data}
	if q.earlier != nil {
		d.Over = q.earlier.key
	}
	after, data := s.after(q)
	if after != "" {
		d.After, d.AfterIs = after, drafts.Sum(data)
	}
	return d
}

func (s *sessionState) removalDraft() []drafts.Draft {
	if s.removal == nil || !s.removal.removing || s.removal.key == "" {
		return nil
	}
	return []drafts.Draft{{Key: s.removal.key, Name: s.name, Base: s.removal.tip, State: drafts.Removed}}
}

// record writes updated drafts. After an error, the journal has some of the old ones,
// which mean the same.
func (t *Tree) record(all ...drafts.Draft) error {
	var errs []error
	for _, d := range all {
		_, err := t.Journal.Put(d)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// failed schedules a retry of the first queued save.
func (st *state) failed(s *sessionState, q *save, err error) {
	q.started = false
	q.due = time.Now().Add(st.timing.backoff(q.failures))
	q.failures++
	for i := range s.queue {
		if at, ok := s.queue[i].at(); ok && at.Before(q.due) {
			s.queue[i].due = q.due // later saves wait for the first
		}
	}
	s.setFailure(q, fmt.Sprintf("It could not be stored: %v. It is in the journal, and will be retried.", err))
}

func (p Timing) backoff(failures int) time.Duration {
	d := p.Retry
	for range min(failures, 10) {
		d *= 2
	}
	return min(d, time.Minute)
}

// remove moves a session to the trash. g is its pending removal.
func (t *Tree) remove(s *sessionState, g *pendingRemoval) {
	info, err := t.Sessions.Info(t.ctx, s.name)
	if err == nil && info.ID == g.tip { // else the session was changed outside the mount, and stays
		err = t.Saver.Remove(t.ctx, s.name)
	}
	if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		t.Logger.Error("removing a session", "session", s.name, "err", err)
		t.state.Do(func(*state) {
			g.due = time.Now().Add(t.Timing.backoff(g.failures))
			g.failures++
		})
		return
	}
	var keys []string
	t.state.Do(func(st *state) {
		keys, s.stale = s.stale, nil
		if g.key != "" {
			keys = append(keys, g.key)
		}
		keys = append(keys, s.errorKeys()...)
		s.saveErrors, s.removal = nil, nil
		st.seen.Forget(s.name)
		st.epoch++
	})
	if err := t.Journal.Delete(keys...); err != nil {
		t.Logger.Error("deleting the draft of a removal", "session", s.name, "err", err)
	}
}

// A debounce decides when a save is complete: Timing.Settle after its last fsync or
// release, but at most Timing.Limit after its first. The zero value is a save without
// either.
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
