package overlay

import (
	"slices"
	"time"
)

// acknowledge makes the content of a session's file durable. ended says that the
// save is complete, for all one can see. h is the handle that was released, if one
// was.
func (t *Tree) acknowledge(f *File, h *Handle, c Caller, ended bool) error {
	t.mu.Lock()
	for {
		if f.name == "" {
			t.mu.Unlock()
			return t.keepFile(f)
		}
		s := t.slot(f.name)
		t.mu.Unlock()
		s.journal.Lock()
		t.mu.Lock()
		if f.name == s.name {
			err := t.keep(s, f, h, c, ended)
			t.mu.Unlock()
			s.journal.Unlock()
			return err
		}
		s.journal.Unlock() // it was renamed meanwhile
	}
}

// keep writes the draft of a file's content. The lock and the slot's journal are
// held; the lock is given up meanwhile.
//
// A release comes some time after the close, perhaps in the middle of the next save:
// what was written since is that one's, and ends with it.
func (t *Tree) keep(s *slot, f *File, h *Handle, c Caller, ended bool) error {
	others := h != nil && f.write > 0
	if f.dirty && !others {
		if err := t.journal(s, f, c, ended); err != nil {
			return err
		}
	}
	if !ended {
		return nil
	}
	now := time.Now()
	var done []string
	for _, q := range s.queue {
		if q.file != f || q.started || others && q.ed != h.ed {
			continue
		}
		q.touch(now, len(q.data) == 0, t.Pace)
		q.ended = true
		if q.earlier != nil {
			done = append(done, q.earlier.key)
			q.earlier = nil
		}
	}
	t.poke(s)
	t.idle.Broadcast() // for who waits for the end of this save
	return t.drop(done)
}

// drop removes drafts. The lock is given up meanwhile.
func (t *Tree) drop(keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	t.mu.Unlock()
	defer t.mu.Lock()
	return t.Journal.Delete(keys...)
}

func (t *Tree) journal(s *slot, f *File, c Caller, ended bool) error {
	data, err := f.data.bytes()
	if err != nil {
		return err
	}
	q := &save{file: f, ed: f.ed, data: data}
	// What was made from a save that has not begun takes its place; what was not
	// is a save of its own, and will be merged.
	var replaced *save
	if n := len(s.queue) - 1; n >= 0 && !s.queue[n].started && q.ed.from(s.queue[n].ed) {
		replaced = s.queue[n]
		q.settling = replaced.settling
		if replaced.ended && !ended {
			// Perhaps only the first half: a child of the program closed the file that
			// it had inherited.
			q.earlier = replaced
		} else {
			q.key, q.earlier = replaced.key, replaced.earlier
		}
	}
	d := s.draft(q)
	f.dirty = false
	s.frozen++
	t.mu.Unlock()
	key, err := t.Journal.Put(d)
	t.mu.Lock()
	s.frozen--
	t.idle.Broadcast()
	if err != nil {
		f.dirty = true
		t.poke(s)
		return err
	}
	q.key = key
	if i := slices.Index(s.queue, replaced); replaced != nil && i >= 0 {
		s.queue[i] = q
	} else {
		s.queue = append(s.queue, q)
	}
	stale := s.stale
	s.stale = nil
	t.seen.put(c, s.name, q.ed)
	t.poke(s)
	return t.drop(stale)
}

// after returns the key and the bytes of the draft that a save was made from, not
// counting what it takes the place of; "" when that is a snapshot.
func (s *slot) after(of *save) (key string, data []byte) {
	own := of.keys()
	for e := of.ed; e != nil && e.id == ""; e = e.prev {
		for _, q := range s.queue {
			if q.ed == e && !slices.Contains(own, q.key) {
				return q.key, q.data
			}
		}
		for _, tr := range s.troubles {
			if tr.ed == e && !slices.Contains(own, tr.key) {
				return tr.key, tr.Data
			}
		}
	}
	return "", nil
}
