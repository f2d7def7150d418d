package overlay

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	failures int
}

// acknowledge makes the content of a session's file durable. ended says that the
// save is complete, for all one can see.
func (t *Tree) acknowledge(f *File, c Caller, ended bool) error {
	t.mu.Lock()
	for {
		if f.name == "" {
			t.mu.Unlock()
			return nil
		}
		s := t.slot(f.name)
		t.mu.Unlock()
		s.journal.Lock()
		t.mu.Lock()
		if f.name == s.name {
			err := t.keep(s, f, c, ended)
			t.mu.Unlock()
			s.journal.Unlock()
			return err
		}
		s.journal.Unlock() // it was renamed meanwhile
	}
}

// keep writes the draft of a file's content. The lock and the slot's journal are
// held; the lock is given up meanwhile.
func (t *Tree) keep(s *slot, f *File, c Caller, ended bool) error {
	if f.dirty {
		if err := t.journal(s, f, c); err != nil {
			return err
		}
	}
	if ended {
		now := time.Now()
		for _, q := range s.queue {
			if q.file == f && !q.started {
				q.touch(now, len(q.data) == 0, t.Pace)
			}
		}
		t.poke(s)
	}
	return nil
}

func (t *Tree) journal(s *slot, f *File, c Caller) error {
	data, err := f.data.bytes()
	if err != nil {
		return err
	}
	q := &save{file: f, ed: f.ed, data: data}
	d := drafts.Draft{Name: s.name, Base: q.ed.base(), State: drafts.Saved, Data: data}
	// What was made from a save that has not begun takes its place; what was not
	// is a save of its own, and will be merged.
	var replaced *save
	if n := len(s.queue) - 1; n >= 0 && !s.queue[n].started && q.ed.from(s.queue[n].ed) {
		replaced = s.queue[n]
		d.Key, q.settling = replaced.key, replaced.settling
	}
	d.After = s.after(q.ed, d.Key)
	f.dirty = false
	s.frozen++
	t.mu.Unlock()
	q.key, err = t.Journal.Put(d)
	t.mu.Lock()
	s.frozen--
	t.idle.Broadcast()
	if err != nil {
		f.dirty = true
		t.poke(s)
		return err
	}
	if i := slices.Index(s.queue, replaced); replaced != nil && i >= 0 {
		s.queue[i] = q
	} else {
		s.queue = append(s.queue, q)
	}
	stale := s.stale
	s.stale = nil
	t.seen.put(c, s.name, q.ed)
	t.poke(s)
	if len(stale) > 0 {
		t.mu.Unlock()
		err = t.deleteDrafts(stale...)
		t.mu.Lock()
	}
	return err
}

// after returns the key of the draft that an edition was made from, other than its
// own; "" when that is a snapshot.
func (s *slot) after(ed *edition, own string) string {
	for e := ed; e != nil && e.id == ""; e = e.prev {
		for _, q := range s.queue {
			if q.ed == e && q.key != own {
				return q.key
			}
		}
		for _, tr := range s.troubles {
			if tr.ed == e && tr.key != own {
				return tr.key
			}
		}
	}
	return ""
}

func (t *Tree) deleteDrafts(keys ...string) error {
	var errs []error
	for _, key := range keys {
		errs = append(errs, t.Journal.Delete(key))
	}
	return errors.Join(errs...)
}

// poke sees to it that a slot's work is done when it is due.
func (t *Tree) poke(s *slot) {
	if s.running || s.frozen > 0 {
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
			failing = append(failing, t.deleteDrafts(stale...))
		}
		if s.failing() {
			failing = append(failing, fmt.Errorf("session %q: what was saved is kept, and tried again by the next mount", s.name))
		}
		if s.timer != nil {
			s.timer.Stop()
		}
	}
	t.closed = true
	t.mu.Unlock()
	t.working.Wait()
	t.cancel()
	return errors.Join(failing...)
}
