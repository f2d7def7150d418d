package overlay

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
)

// failing is the state of a save that is tried again; its draft stays that of a save.
const failing drafts.State = "failing"

// A trouble is a save whose author should know what became of it.
type trouble struct {
	State   drafts.State
	Problem string
	Data    []byte
	key     string // of its draft
	ed      *edition
	at      time.Time
}

func (tr *trouble) draft(name, base string) drafts.Draft {
	return drafts.Draft{Key: tr.key, Name: name, Base: base, State: tr.State, Problem: tr.Problem, Data: tr.Data}
}

// mended drops the troubles that a good save ends, and returns the keys of their
// drafts: all that it was made from, and what is only worth knowing until the next
// good save.
func (s *slot) mended(q *save, merged bool) (keys []string) {
	s.troubles = slices.DeleteFunc(s.troubles, func(tr *trouble) bool {
		over := q.ed.from(tr.ed) || tr.State == drafts.Merged && !merged
		if over && tr.key != q.key {
			keys = append(keys, tr.key)
		}
		return over
	})
	return keys
}

// broken takes the first save off a slot: it cannot become a snapshot.
func (t *Tree) broken(s *slot, q *save, err error) {
	keys := s.mended(q, true)
	if q.earlier != nil {
		keys = append(keys, q.earlier.key)
	}
	tr := &trouble{State: drafts.Broken, Problem: err.Error(), Data: q.data, key: q.key, ed: q.ed, at: time.Now()}
	s.troubles = append(s.troubles, tr)
	s.queue = s.queue[1:]
	d := tr.draft(s.name, q.ed.base())
	t.epoch++
	t.mu.Unlock()
	err = t.record(d)
	if err == nil {
		err = t.Journal.Delete(keys...)
		keys = nil
	}
	if err != nil {
		t.Logger.Error("keeping the journal", "session", d.Name, "err", err)
	}
	t.mu.Lock()
	s.stale = append(s.stale, keys...)
}

// setFailure says why a save is tried again.
func (s *slot) setFailure(q *save, problem string) {
	for _, tr := range s.troubles {
		if tr.ed == q.ed {
			tr.Problem = problem
			return
		}
	}
	s.troubles = append(s.troubles, &trouble{State: failing, Problem: problem, Data: q.data, key: q.key, ed: q.ed, at: time.Now()})
}

// Troubled returns the sessions that have something in errors/, by name.
func (t *Tree) Troubled() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var names []string
	for name, s := range t.slots {
		if len(s.troubles) > 0 {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}

// Trouble returns what errors/ shows for a session: what is wrong, and the saved
// bytes. [domarkx.ErrNotFound] when nothing is wrong.
func (t *Tree) Trouble(name string) ([]byte, time.Time, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slots[name]
	if s == nil || len(s.troubles) == 0 {
		return nil, time.Time{}, domarkx.ErrNotFound
	}
	var b bytes.Buffer
	var at time.Time
	for _, tr := range s.troubles {
		if tr.at.After(at) {
			at = tr.at
		}
		fmt.Fprintf(&b, "%s\n\n%s\n", heading(tr.State, name), strings.TrimRight(tr.Problem, "\n"))
		fmt.Fprintf(&b, "\nThe %d bytes that were saved follow this line.\n%s\n", len(tr.Data), divider)
		b.Write(tr.Data)
		if n := len(tr.Data); n > 0 && tr.Data[n-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	return b.Bytes(), at, nil
}

// Dismiss forgets what errors/ shows for a session: its file shows the newest
// snapshot again. What is tried again, or would leave nothing, is not forgotten:
// syscall.EBUSY.
func (t *Tree) Dismiss(ctx context.Context, name string) error {
	s, tip, err := t.holdSession(ctx, name)
	if err != nil {
		return err
	}
	defer t.mu.Unlock()
	defer t.letGo(s)
	if len(s.troubles) == 0 {
		return domarkx.ErrNotFound
	}
	if len(s.queue) > 0 || s.file != nil && s.file.local() && (tip.ID == "" || s.file.dirty) {
		return fmt.Errorf("session %q: %w: mend or remove its file in sessions/", name, syscall.EBUSY)
	}
	var keys []string
	for _, tr := range s.troubles {
		keys = append(keys, tr.key)
	}
	t.mu.Unlock()
	err = t.Journal.Delete(keys...)
	t.mu.Lock()
	if err != nil {
		return err
	}
	s.troubles = nil
	if f := s.file; f != nil && f.local() {
		if f.opens == 0 {
			f.name = ""
		}
		s.file = nil
		t.epoch++
	}
	return nil
}

// divider stands before the saved bytes.
const divider = "----------------------------------------------------------------------"

func heading(s drafts.State, name string) string {
	switch s {
	case drafts.Merged:
		return "# " + name + ": this save was merged"
	case failing:
		return "# " + name + ": this save is not in the session yet"
	}
	return "# " + name + ": this save is not in the session\n\nsessions/" + name + ".md still holds it: mend it there."
}
