package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// failing is the state of a save that is retried. Its draft has the state [drafts.Saved].
const failing drafts.State = "failing"

// A saveError is an entry in errors/: a save that is not in the session as it was saved.
type saveError struct {
	State   drafts.State
	Problem string
	Data    []byte
	key     string // of its draft
	version *basis.Version
	at      time.Time
}

func (tr *saveError) draft(name, base string) drafts.Draft {
	return drafts.Draft{Key: tr.key, Name: name, Base: base, State: tr.State, Problem: tr.Problem, Data: tr.Data}
}

// mended drops the errors that a successful save resolves: those of the versions that it
// was made from, and unless it was merged itself, notices of earlier merges. It returns
// the keys of their drafts.
func (s *sessionState) mended(q *save, merged bool) (keys []string) {
	s.saveErrors = slices.DeleteFunc(s.saveErrors, func(tr *saveError) bool {
		over := q.version.From(tr.version) || tr.State == drafts.Merged && !merged
		if over && tr.key != q.key {
			keys = append(keys, tr.key)
		}
		return over
	})
	return keys
}

// broken moves the first queued save of a session to errors/, because it cannot become a
// snapshot.
func (t *Tree) broken(s *sessionState, q *save, problem error) {
	var keys []string
	var d drafts.Draft
	t.state.Do(func(st *state) {
		keys = s.mended(q, true)
		if q.earlier != nil {
			keys = append(keys, q.earlier.key)
		}
		tr := &saveError{State: drafts.Broken, Problem: problem.Error(), Data: q.data, key: q.key, version: q.version, at: time.Now()}
		s.saveErrors = append(s.saveErrors, tr)
		s.queue = s.queue[1:]
		d = tr.draft(s.name, q.version.Base())
		st.epoch++
	})
	t.rewrite(s, []drafts.Draft{d}, keys)
}

// errorKeys returns the keys of the drafts of the session's errors.
func (s *sessionState) errorKeys() (keys []string) {
	for _, tr := range s.saveErrors {
		keys = append(keys, tr.key)
	}
	return keys
}

// setFailure records in errors/ why a save is retried.
func (s *sessionState) setFailure(q *save, problem string) {
	for _, tr := range s.saveErrors {
		if tr.version == q.version {
			tr.Problem = problem
			return
		}
	}
	s.saveErrors = append(s.saveErrors, &saveError{State: failing, Problem: problem, Data: q.data, key: q.key, version: q.version, at: time.Now()})
}

// SessionsWithErrors returns the sessions with entries in errors/, sorted by name.
func (t *Tree) SessionsWithErrors() []string {
	var names []string
	t.state.Do(func(st *state) {
		for name, s := range st.sessions {
			if len(s.saveErrors) > 0 {
				names = append(names, name)
			}
		}
	})
	slices.Sort(names)
	return names
}

// SaveErrors returns the content of a session's file in errors/: the problems and the
// saved bytes. It returns [domarkx.ErrNotFound] if the session has none.
func (t *Tree) SaveErrors(name string) ([]byte, time.Time, error) {
	var b bytes.Buffer
	var at time.Time
	err := t.state.Try(func(st *state) error {
		s := st.sessions[name]
		if s == nil || len(s.saveErrors) == 0 {
			return domarkx.ErrNotFound
		}
		for _, tr := range s.saveErrors {
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
		return nil
	})
	return b.Bytes(), at, err
}

// Dismiss drops the errors of a session, so that its file shows the newest snapshot
// again. It returns [domarkx.ErrNotFound] if the session has none, and syscall.EBUSY
// while a save is queued, while unsaved changes exist, or if the session was never
// stored.
func (t *Tree) Dismiss(ctx context.Context, name string) error {
	return t.dismiss(ctx, name, "correct or remove its file in sessions/", func(*saveError) bool { return true })
}

// DismissDraft drops the broken save whose draft has this key, because its text was saved
// elsewhere. It returns syscall.EBUSY while the file has other unsaved changes.
func (t *Tree) DismissDraft(ctx context.Context, key string) error {
	ours := func(tr *saveError) bool { return tr.key == key && tr.State == drafts.Broken }
	name := ""
	t.state.Do(func(st *state) {
		for _, s := range st.sessions {
			if slices.ContainsFunc(s.saveErrors, ours) {
				name = s.name
			}
		}
	})
	if name == "" {
		return nil
	}
	err := t.dismiss(ctx, name, "its file in sessions/ has unsaved changes", ours)
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil // it is resolved meanwhile
	}
	return err
}

// dismiss drops errors of a session. If its file shows the content of one, or none is left, the
// name then shows the newest snapshot. busy says what prevents that.
func (t *Tree) dismiss(ctx context.Context, name, busy string, ours func(*saveError) bool) error {
	s, tip, err := t.freezeSession(ctx, name)
	if err != nil {
		return err
	}
	defer t.thaw(s)
	var keys []string
	shows := false
	err = t.state.Try(func(*state) error {
		for _, tr := range s.saveErrors {
			if ours(tr) {
				keys = append(keys, tr.key)
				shows = shows || s.file != nil && s.file.version == tr.version
			}
		}
		if len(keys) == 0 {
			return domarkx.ErrNotFound
		}
		shows = s.file != nil && s.file.local() && (shows || len(keys) == len(s.saveErrors))
		if len(s.queue) > 0 || shows && (tip.ID == "" || s.file.dirty) {
			return fmt.Errorf("session %q: %w: %s", name, syscall.EBUSY, busy)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.Journal.Delete(keys...); err != nil {
		return err
	}
	t.state.Do(func(st *state) {
		s.saveErrors = slices.DeleteFunc(s.saveErrors, ours)
		if !shows || s.file == nil {
			return
		}
		if s.file.opens == 0 {
			s.file.name = ""
		}
		s.file = nil
		st.epoch++
	})
	return nil
}

// divider precedes the saved bytes.
const divider = "----------------------------------------------------------------------"

func heading(s drafts.State, name string) string {
	switch s {
	case drafts.Merged:
		return "# " + name + ": this save was merged"
	case failing:
		return "# " + name + ": this save is not in the session yet"
	}
	return "# " + name + ": this save is not in the session\n\nsessions/" + name + ".md still holds it: correct it there."
}
