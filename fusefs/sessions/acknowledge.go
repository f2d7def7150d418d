package sessions

import (
	"errors"
	"slices"
	"time"

	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// acknowledge stores the content of a file durably, as a draft. ended reports that the
// save is probably complete. h is the handle that was released, or nil.
func (t *Tree) acknowledge(f *File, h *Handle, c basis.Caller, ended bool) error {
	var s *sessionState
	var a *ack
	var err error
	t.state.When(func(st *state) bool { return f.name == "" || !st.session(f.name).held }, func(st *state) {
		if f.name != "" {
			s = st.session(f.name)
			s.held = true
			a, err = s.acknowledging(f, h, c, ended)
		}
	})
	if s == nil {
		return t.keepFile(f)
	}
	defer t.thaw(s)
	if err != nil {
		return err
	}
	return t.journal(s, a)
}

// acknowledgeLater retries to store the content of a closed file. A program may have
// ignored the error of close(), and the file still shows the content.
func (t *Tree) acknowledgeLater(f *File, c basis.Caller, failures int) {
	t.state.Do(func(st *state) {
		f.failed = true
		st.after(st.timing.backoff(failures), func(t *Tree) {
			wanted := false
			t.state.Do(func(st *state) { wanted = f.unstored() && !st.closed })
			if wanted && t.acknowledge(f, nil, c, true) != nil {
				t.acknowledgeLater(f, c, failures+1)
			}
		})
	})
}

// unstored reports whether the file was closed, and storing its content failed.
func (f *File) unstored() bool { return f.failed && f.dirty && f.write == 0 && f.links > 0 }

// acknowledgeUnstored stores the content of all closed files for which that failed.
func (t *Tree) acknowledgeUnstored() error {
	var files []*File
	t.state.Do(func(st *state) {
		for _, s := range st.sessions {
			if s.file != nil && s.file.unstored() {
				files = append(files, s.file)
			}
		}
		for p, f := range st.files {
			if f.unstored() && !IsScratch(p) {
				files = append(files, f)
			}
		}
	})
	var errs []error
	for _, f := range files {
		errs = append(errs, t.acknowledge(f, nil, basis.Caller{}, true))
	}
	return errors.Join(errs...)
}

// An ack is an acknowledgement of a file of a session while its draft is written.
//
// The kernel may send a release long after the close, even in the middle of the next
// save. Bytes that were written after the close belong to the next save, so the release
// does not end them.
type ack struct {
	file     *File
	handle   *Handle
	caller   basis.Caller
	ended    bool
	others   bool  // a handle was released, and programs still have others for writing
	save     *save // nil if nothing has changed
	replaced *save // that save replaces it in the queue; nil if it is a save of its own
	draft    drafts.Draft
}

// acknowledging takes the unacknowledged content of a file of the session. The session
// must be held until [Tree.journal] has returned.
func (s *sessionState) acknowledging(f *File, h *Handle, c basis.Caller, ended bool) (*ack, error) {
	a := &ack{file: f, handle: h, caller: c, ended: ended, others: h != nil && f.write > 0}
	if !f.dirty || a.others {
		return a, nil
	}
	data, err := f.data.Bytes()
	if err != nil {
		return nil, err
	}
	q := &save{file: f, version: f.version, data: data}
	// A version that was made from the last queued save replaces that save, unless it has
	// started to become a snapshot. Any other version is a save of its own and will be
	// merged.
	if n := len(s.queue) - 1; n >= 0 && !s.queue[n].started && q.version.From(s.queue[n].version) {
		a.replaced = s.queue[n]
		q.debounce = a.replaced.debounce
		if a.replaced.ended && !ended {
			// This may be only the first half of a save: a child of the program closed a
			// file that it had inherited.
			q.earlier = a.replaced
		} else {
			q.key, q.earlier = a.replaced.key, a.replaced.earlier
		}
	}
	f.dirty = false
	a.save, a.draft = q, s.draft(q)
	return a, nil
}

// journal writes the draft of an acknowledgement, and queues it as a save.
func (t *Tree) journal(s *sessionState, a *ack) error {
	if a.save != nil {
		key, err := t.Journal.Put(a.draft)
		if err != nil {
			t.state.Do(func(*state) { a.file.dirty = true })
			return err
		}
		a.save.key = key
	}
	var done []string
	t.state.Do(func(st *state) {
		if a.save != nil {
			done, s.stale = s.stale, nil
			if i := slices.Index(s.queue, a.replaced); a.replaced != nil && i >= 0 {
				s.queue[i] = a.save
			} else {
				s.queue = append(s.queue, a.save)
			}
			st.seen.Put(a.caller, s.name, a.save.version)
		}
		if a.ended {
			done = append(done, s.end(a, st.timing)...)
		}
	})
	if len(done) == 0 {
		return nil
	}
	return t.Journal.Delete(done...)
}

// end records that the saves of a file are probably complete. It returns the keys of the
// drafts that they have replaced.
func (s *sessionState) end(a *ack, timing Timing) (done []string) {
	now := time.Now()
	for _, q := range s.queue {
		if q.file != a.file || q.started || a.others && q.version != a.handle.version {
			continue
		}
		q.touch(now, len(q.data) == 0, timing)
		q.ended = true
		if q.earlier != nil {
			done = append(done, q.earlier.key)
			q.earlier = nil
		}
	}
	return done
}

// after returns the key and the data of the draft that a save was made from, not counting
// the draft that the save replaces. The key is "" if the save was made from a snapshot.
func (s *sessionState) after(of *save) (key string, data []byte) {
	own := of.keys()
	for e := of.version; e != nil && e.ID == ""; e = e.Prev {
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
