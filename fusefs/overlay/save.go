package overlay

import (
	"errors"
	"fmt"
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
	t.record(later...)
	if notice != nil {
		t.record(notice.draft(name, ""))
	} else {
		mended = append(mended, q.key)
	}
	if err := t.deleteDrafts(mended...); err != nil {
		t.Logger.Error("removing the draft of a save", "session", name, "err", err)
	}
	s.journal.Unlock()
	t.mu.Lock()
}

const mergedProblem = "The session had changed since this was read. Both changes are in it now, and sessions/ shows them."

// rebased returns the drafts of the saves that were made from what is a snapshot
// now.
func (t *Tree) rebased(s *slot) []drafts.Draft {
	var later []drafts.Draft
	for _, q := range s.queue {
		if !q.started {
			later = append(later, drafts.Draft{Key: q.key, Name: s.name, Base: q.ed.base(), After: s.after(q.ed, q.key), State: drafts.Saved, Data: q.data})
		}
	}
	return later
}

// removalDraft returns the draft of the removal that a slot waits for.
func (t *Tree) removalDraft(s *slot) []drafts.Draft {
	if s.gone == nil || !s.gone.removing || s.gone.key == "" {
		return nil
	}
	return []drafts.Draft{{Key: s.gone.key, Name: s.name, Base: s.gone.tip, State: drafts.Removed}}
}

// record replaces drafts. What fails is only logged: the ones that are there say
// the same, less exactly.
func (t *Tree) record(all ...drafts.Draft) {
	for _, d := range all {
		if _, err := t.Journal.Put(d); err != nil {
			t.Logger.Error("keeping a draft", "session", d.Name, "err", err)
		}
	}
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
	if err := t.deleteDrafts(keys...); err != nil {
		t.Logger.Error("removing the draft of a removal", "session", name, "err", err)
	}
	t.mu.Lock()
}
