package sessions

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// Unlink removes the name of a file. The removal of a session is in the journal when
// Unlink returns. The session goes to the trash after Timing.Removal, unless the name is
// created again before.
func (t *Tree) Unlink(ctx context.Context, d *Directory, name string) error {
	if t.Saver == nil {
		return syscall.EROFS
	}
	p, err := t.path(d, name)
	if err != nil {
		return err
	}
	if session, ok := SessionOf(p); ok {
		return t.unlinkSession(ctx, session)
	}
	var f *File
	var s *sessionState
	ours := false
	t.state.Do(func(st *state) {
		f = st.files[p]
		if ours = f != nil && f.kept == nil; ours {
			s = st.unbind(p)
		}
	})
	if ours {
		if err := t.removeCarried(s, f); err != nil {
			return err
		}
		return t.keepFile(f)
	}
	if f, _, err = t.lookupAttached(ctx, p, f); err == nil && f == nil {
		err = domarkx.ErrNotFound
	} else if err == nil {
		err = syscall.EPERM // sessions have attached it
	}
	return err
}

// unbind removes a name of a scratch file. If it was the last one, and the file was
// renamed from the file of a session that is still stored, it returns that session.
func (st *state) unbind(p string) *sessionState {
	f := st.files[p]
	delete(st.files, p)
	st.changedIn(p, true)
	f.links--
	f.Changed = time.Now()
	st.release(f)
	if f.links > 0 {
		return nil
	}
	for _, s := range st.sessions {
		if s.removal != nil && s.removal.carrier == f {
			return s
		}
	}
	return nil
}

// unlinkSession removes the name of a session's file.
func (t *Tree) unlinkSession(ctx context.Context, session string) error {
	f, tip, err := t.shows(ctx, session)
	if err == nil && f == nil {
		err = domarkx.ErrNotFound
	}
	if err == nil && tip.ID == "" {
		err = t.storeText(t.session(session))
	}
	if err != nil {
		return err
	}
	s, tip, err := t.freezeSession(ctx, session)
	if err != nil {
		return err
	}
	defer t.thaw(s)
	var g *pendingRemoval
	t.state.Do(func(st *state) {
		if f = st.shown(session, tip); f != nil {
			g = &pendingRemoval{tip: tip.ID, version: f.version}
		}
	})
	if f == nil {
		return domarkx.ErrNotFound
	}
	return t.beginRemoval(s, g, func(st *state) {
		st.show(s, f)
		st.hide(s, g)
		f.links--
		f.Changed = time.Now()
		st.release(f)
		st.changedIn(pathOf(session), true)
	})
}

// storeText makes a session of the queued saves of a new one, before it is removed, so
// that the trash has their text. An empty file is not worth that.
func (t *Tree) storeText(s *sessionState) error {
	hasText, failing := false, false
	t.state.Do(func(*state) { hasText = slices.ContainsFunc(s.queue, func(q *save) bool { return len(q.data) > 0 }) })
	if hasText {
		t.finish(s)
	}
	t.state.Do(func(*state) { failing = s.failing() })
	if failing {
		return fmt.Errorf("removing %q: %w: its last save is not stored yet", s.name, syscall.EAGAIN)
	}
	return nil
}

// beginRemoval writes the removal of a frozen session to the journal, or deletes the drafts of one that was never stored.
// Then it schedules the removal and does a step.
func (t *Tree) beginRemoval(s *sessionState, g *pendingRemoval, step func(*state)) (err error) {
	key := ""
	if g.tip == "" {
		var keys []string
		t.state.Do(func(*state) {
			for _, q := range s.queue {
				keys = append(keys, q.keys()...)
			}
			keys = append(keys, s.errorKeys()...)
		})
		err = t.Journal.Delete(keys...)
	} else if key, err = t.Journal.Put(drafts.Draft{Name: s.name, Base: g.tip, State: drafts.Removed}); err != nil {
		err = fmt.Errorf("removing %q: %w", s.name, err)
	}
	if err != nil {
		return err
	}
	t.state.Do(func(st *state) {
		g.key, g.removing, g.due = key, true, time.Now()
		if g.tip == "" {
			s.queue, s.saveErrors = nil, nil // the store has nothing to remove
		} else {
			g.due = g.due.Add(st.timing.Removal)
		}
		step(st)
	})
	return nil
}

// removeCarried removes the session whose file was renamed to a scratch name, after that
// file has lost its last name. s is nil if there is none.
func (t *Tree) removeCarried(s *sessionState, f *File) error {
	if s == nil {
		return nil
	}
	isNew := false
	t.state.Do(func(*state) { isNew = s.removal != nil && s.removal.carrier == f && s.removal.tip == "" })
	if isNew {
		if err := t.storeText(s); err != nil {
			return err
		}
	}
	t.freeze(s)
	defer t.thaw(s)
	var g *pendingRemoval
	t.state.Do(func(*state) {
		if s.removal != nil && s.removal.carrier == f {
			g = s.removal
			g.carrier = nil
		}
	})
	if g == nil {
		return nil
	}
	return t.beginRemoval(s, g, func(*state) {})
}

// Symlink creates a symbolic link. A session cannot be one.
func (t *Tree) Symlink(ctx context.Context, d *Directory, name, target string) (*File, error) {
	p, err := t.free(ctx, d, name)
	if _, ok := SessionOf(p); ok && err == nil {
		err = syscall.EPERM
	}
	if err != nil {
		return nil, err
	}
	var f *File
	err = t.state.Try(func(st *state) error {
		if st.files[p] != nil {
			return domarkx.ErrExists
		}
		f = st.newFile(p, 0o777)
		f.link, f.target = true, target
		st.bind(p, f)
		return nil
	})
	return f, err
}

// Link gives a file another name: a scratch name, or for a scratch file the name of a new
// session. A session cannot have two names.
func (t *Tree) Link(ctx context.Context, f *File, d *Directory, name string, c basis.Caller) error {
	p, err := t.free(ctx, d, name)
	if err != nil {
		return err
	}
	session, isSession := SessionOf(p)
	err = t.state.Try(func(st *state) error {
		st.register(f)
		switch {
		case isSession && (f.name != "" || f.link || f.links <= 0 || f.kept != nil):
			return syscall.EPERM
		case isSession:
			return nil
		case f.links <= 0:
			return domarkx.ErrNotFound
		case f.kept != nil:
			return syscall.EPERM
		case st.files[p] != nil:
			return domarkx.ErrExists
		}
		holder := st.inodes[f.Ino]
		st.bind(p, f)
		if f.name != "" {
			st.inodes[f.Ino] = holder
		}
		return nil
	})
	if err == nil && isSession {
		err = t.adoptAs(ctx, f, session, c)
	}
	return err
}
