package overlay

import (
	"errors"
	"slices"
	"time"

	"github.com/domarkx/domarkx/fusefs/drafts"
)

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
