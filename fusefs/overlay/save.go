package overlay

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// A save is a content that was acknowledged and is to become a snapshot.
type save struct {
	settling
	key      string // of its draft
	file     *File
	ed       *edition
	data     []byte
	started  bool
	ended    bool  // its program was done with it when it was acknowledged
	earlier  *save // what it took the place of: that draft stays until this one has ended
	failures int
}

// save makes a snapshot of the first save of a slot. The lock is given up
// meanwhile.
func (t *Tree) save(s *slot, q *save) {
	q.started = true
	name, base := s.name, q.ed.base()
	t.mu.Unlock()
	r, err := t.Saver.Save(t.ctx, name, base, q.data)
	t.mu.Lock()
	switch {
	case err == nil:
		t.saved(s, q, r)
	case hopeless(err):
		t.Logger.Info("a save cannot become a snapshot", "session", name, "problem", err)
		t.broken(s, q, err)
	default:
		t.Logger.Error("making a snapshot", "session", name, "err", err)
		t.failed(s, q, err)
	}
}

// hopeless reports whether the same save would fail again.
func hopeless(err error) bool {
	var syntax *domarkx.SyntaxError
	return errors.As(err, &syntax) || errors.Is(err, domarkx.ErrInvalid) || errors.Is(err, domarkx.ErrExists) || errors.Is(err, domarkx.ErrUnsupported)
}

// saved lets a slot know that its first save is in the session.
func (t *Tree) saved(s *slot, q *save, r Result) {
	mended := s.mended(q, r.Merged)
	q.ed.id = r.Saved
	if !r.Merged && q.ed.id == "" {
		q.ed.id = r.Info.ID
	}
	same := q.ed.id == r.Info.ID
	if f := q.file; f.ed == q.ed && !f.dirty {
		if q.ed.id != "" {
			f.settle(q.ed.id)
		}
		if s.file == f && !same {
			s.file = nil // its name shows the merged document from now on
			if f.opens == 0 {
				f.name = ""
			}
		}
	}
	if q.ed.id != "" {
		q.ed.prev = nil
	}
	if s.gone != nil {
		s.gone.tip = r.Info.ID
	}
	s.queue = s.queue[1:]
	t.epoch++
	t.attachSoon()
	var notice *trouble
	if r.Merged {
		notice = &trouble{State: drafts.Merged, Problem: mergedProblem, Data: q.data, key: q.key, ed: q.ed, at: time.Now()}
		s.troubles = append(s.troubles, notice)
	}
	t.mu.Unlock()
	s.journal.Lock()
	t.mu.Lock()
	name, later := s.name, append(t.rebased(s), t.removalDraft(s)...)
	t.mu.Unlock()
	done := append(mended, q.keys()...)
	if notice != nil {
		later = append(later, notice.draft(name, ""))
		done = slices.DeleteFunc(done, func(key string) bool { return key == q.key })
	}
	err := t.record(later...)
	if err == nil {
		err = t.Journal.Delete(done...)
		done = nil
	}
	if err != nil {
		t.Logger.Error("keeping the journal", "session", name, "err", err)
	}
	s.journal.Unlock()
	t.mu.Lock()
	s.stale = append(s.stale, done...) // others still say that they were made from them
}

// keys returns the keys of a save's drafts.
func (q *save) keys() []string {
	if q.earlier == nil {
		return []string{q.key}
	}
	return []string{q.earlier.key, q.key}
}

const mergedProblem = "The session had changed since this was read. Both changes are in it now, and sessions/ shows them."

// rebased returns the drafts of the saves that were made from what is a snapshot
// now.
func (t *Tree) rebased(s *slot) []drafts.Draft {
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

// draft returns the draft of a save.
func (s *slot) draft(q *save) drafts.Draft {
	d := drafts.Draft{Key: q.key, Name: s.name, Base: q.ed.base(), State: drafts.Saved, Data: q.data}
	if q.earlier != nil {
		d.Over = q.earlier.key
	}
	after, data := s.after(q)
	if after != "" {
		d.After, d.AfterIs = after, drafts.Sum(data)
	}
	return d
}

// removalDraft returns the draft of the removal that a slot waits for.
func (t *Tree) removalDraft(s *slot) []drafts.Draft {
	if s.gone == nil || !s.gone.removing || s.gone.key == "" {
		return nil
	}
	return []drafts.Draft{{Key: s.gone.key, Name: s.name, Base: s.gone.tip, State: drafts.Removed}}
}

// record replaces drafts. Those that are there say the same, less exactly.
func (t *Tree) record(all ...drafts.Draft) error {
	var errs []error
	for _, d := range all {
		_, err := t.Journal.Put(d)
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// failed lets the first save of a slot be tried again later.
func (t *Tree) failed(s *slot, q *save, err error) {
	q.started = false
	q.due = time.Now().Add(t.Pace.backoff(q.failures))
	q.failures++
	for i := range s.queue {
		if at, ok := s.queue[i].at(); ok && at.Before(q.due) {
			s.queue[i].due = q.due // they wait for the first
		}
	}
	s.setFailure(q, fmt.Sprintf("It could not be stored: %v. It is kept, and tried again.", err))
}

func (p Pace) backoff(failures int) time.Duration {
	d := p.Retry
	for range min(failures, 10) {
		d *= 2
	}
	return min(d, time.Minute)
}

// remove moves the session of a slot to the trash. The lock is given up meanwhile.
func (t *Tree) remove(s *slot) {
	g, name := s.gone, s.name
	t.mu.Unlock()
	info, err := t.Sessions.Info(t.ctx, name)
	if err == nil && info.ID == g.tip { // else somebody changed it since: it stays
		err = t.Saver.Remove(t.ctx, name)
	}
	if errors.Is(err, domarkx.ErrNotFound) {
		err = nil
	}
	t.mu.Lock()
	if err != nil {
		t.Logger.Error("removing a session", "session", name, "err", err)
		g.due = time.Now().Add(t.Pace.backoff(g.failures))
		g.failures++
		return
	}
	keys := s.stale
	s.stale = nil
	if g.key != "" {
		keys = append(keys, g.key)
	}
	for _, tr := range s.troubles {
		keys = append(keys, tr.key)
	}
	s.troubles, s.gone = nil, nil
	t.seen.forget(name)
	t.epoch++
	t.mu.Unlock()
	if err := t.Journal.Delete(keys...); err != nil {
		t.Logger.Error("removing the draft of a removal", "session", name, "err", err)
	}
	t.mu.Lock()
}
