package sessions

import (
	"errors"
	"slices"
	"time"
)

// acknowledge stores the content of a file durably, as a draft. ended reports that the
// save is probably complete. h is the handle that was released, or nil.
func (t *Tree) acknowledge(f *File, h *Handle, c Caller, ended bool) error {
	t.mu.Lock()
	for {
		if f.name == "" {
			t.mu.Unlock()
			return t.keepFile(f)
		}
		s := t.session(f.name)
		t.mu.Unlock()
		s.journal.Lock()
		t.mu.Lock()
		if f.name == s.name {
			err := t.keep(s, f, h, c, ended)
			t.mu.Unlock()
			s.journal.Unlock()
			return err
		}
		s.journal.Unlock() // the file was renamed meanwhile
	}
}

// acknowledgeLater retries to store the content of a closed file. A program may have
// ignored the error of close(), and the file still shows the content.
func (t *Tree) acknowledgeLater(f *File, c Caller, failures int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.failed = true
	time.AfterFunc(t.Timing.backoff(failures), func() {
		t.mu.Lock()
		wanted := f.unstored() && !t.closed
		t.mu.Unlock()
		if wanted && t.acknowledge(f, nil, c, true) != nil {
			t.acknowledgeLater(f, c, failures+1)
		}
	})
}

// unstored reports whether the file was closed, and storing its content failed.
func (f *File) unstored() bool { return f.failed && f.dirty && f.write == 0 && f.links > 0 }

// acknowledgeUnstored stores the content of all closed files for which that failed.
func (t *Tree) acknowledgeUnstored() error {
	t.mu.Lock()
	var files []*File
	for _, s := range t.sessions {
		if s.file != nil && s.file.unstored() {
			files = append(files, s.file)
		}
	}
	for p, f := range t.files {
		if f.unstored() && !IsScratch(p) {
			files = append(files, f)
		}
	}
	t.mu.Unlock()
	var errs []error
	for _, f := range files {
		errs = append(errs, t.acknowledge(f, nil, Caller{}, true))
	}
	return errors.Join(errs...)
}

// keep writes the draft of a file's content. t.mu and s.journal must be held; t.mu is
// released while the draft is written.
//
// The kernel may send a release long after the close, even in the middle of the next
// save. Bytes that were written after the close belong to the next save, so the release
// does not end them.
func (t *Tree) keep(s *sessionState, f *File, h *Handle, c Caller, ended bool) error {
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
		if q.file != f || q.started || others && q.version != h.version {
			continue
		}
		q.touch(now, len(q.data) == 0, t.Timing)
		q.ended = true
		if q.earlier != nil {
			done = append(done, q.earlier.key)
			q.earlier = nil
		}
	}
	t.schedule(s)
	t.idle.Broadcast() // for goroutines that wait until this save has ended
	return t.drop(done)
}

// drop deletes drafts. t.mu must be held; it is released meanwhile.
func (t *Tree) drop(keys []string) error {
	if len(keys) == 0 {
		return nil
	}
	t.mu.Unlock()
	defer t.mu.Lock()
	return t.Journal.Delete(keys...)
}

// journal writes a draft of the file's content, and queues it as a save. t.mu and
// s.journal must be held; t.mu is released meanwhile.
func (t *Tree) journal(s *sessionState, f *File, c Caller, ended bool) error {
	data, err := f.data.bytes()
	if err != nil {
		return err
	}
	q := &save{file: f, version: f.version, data: data}
	// A version that was made from the last queued save replaces that save, unless it has
	// started to become a snapshot. Any other version is a save of its own and will be
	// merged.
	var replaced *save
	if n := len(s.queue) - 1; n >= 0 && !s.queue[n].started && q.version.from(s.queue[n].version) {
		replaced = s.queue[n]
		q.debounce = replaced.debounce
		if replaced.ended && !ended {
			// This may be only the first half of a save: a child of the program closed a
			// file that it had inherited.
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
		t.schedule(s)
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
	t.seen.put(c, s.name, q.version)
	t.schedule(s)
	return t.drop(stale)
}

// after returns the key and the data of the draft that a save was made from, not counting
// the draft that the save replaces. The key is "" if the save was made from a snapshot.
func (s *sessionState) after(of *save) (key string, data []byte) {
	own := of.keys()
	for e := of.version; e != nil && e.id == ""; e = e.prev {
		for _, q := range s.queue {
			if q.version == e && !slices.Contains(own, q.key) {
				return q.key, q.data
			}
		}
		for _, tr := range s.saveErrors {
			if tr.version == e && !slices.Contains(own, tr.key) {
				return tr.key, tr.Data
			}
		}
	}
	return "", nil
}
