package sessions

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
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
	t.mu.Lock()
	f := t.files[p]
	if f == nil || f.kept != nil {
		t.mu.Unlock()
		if f, _, err = t.lookupAttached(ctx, p, f); err == nil && f == nil {
			err = domarkx.ErrNotFound
		} else if err == nil {
			err = syscall.EPERM // sessions have attached it
		}
		return err
	}
	s := t.unbind(p)
	t.mu.Unlock()
	if s != nil {
		return t.removeCarried(ctx, s, f)
	}
	return t.keepFile(f)
}

// unbind removes a name of a scratch file. If it was the last one, and the file was
// renamed from the file of a session that is still stored, it returns that session.
func (st *state) unbind(p string) *sessionState {
	f := st.files[p]
	delete(st.files, p)
	st.changedIn(p, true)
	f.links--
	f.changed = time.Now()
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
	tips, err := t.lockWithTips(ctx, session)
	if err != nil {
		return err
	}
	defer t.mu.Unlock()
	if t.shown(session, tips[0]) == nil {
		return domarkx.ErrNotFound
	}
	s := t.session(session)
	if tips[0].ID == "" {
		if err := t.storeText(s); err != nil {
			return err
		}
	}
	t.freeze(s)
	defer t.thaw(s)
	t.mu.Unlock()
	info, err := t.Sessions.Info(ctx, session)
	t.mu.Lock()
	if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		return err
	}
	if err != nil {
		info = domarkx.Info{}
	}
	f := t.shown(session, info)
	if f == nil {
		return domarkx.ErrNotFound
	}
	g := &pendingRemoval{tip: info.ID, version: f.version}
	if err := t.startRemoval(s, g); err != nil {
		return err
	}
	t.show(s, f)
	t.hide(s, g)
	f.links--
	f.changed = time.Now()
	t.release(f)
	t.changedIn(pathOf(session), true)
	return nil
}

// storeText makes a session of the queued saves of a new one, before it is removed, so that the trash has
// their text. An empty file is not worth that. t.mu must be held; it is released meanwhile.
func (t *Tree) storeText(s *sessionState) error {
	if slices.ContainsFunc(s.queue, func(q *save) bool { return len(q.data) > 0 }) {
		t.finish(s)
	}
	if s.failing() {
		return fmt.Errorf("removing %q: %w: its last save is not stored yet", s.name, syscall.EAGAIN)
	}
	return nil
}

// startRemoval writes the removal of a session to the journal, or discards a session that
// was never stored. The session must be frozen and t.mu held; t.mu is released meanwhile.
func (t *Tree) startRemoval(s *sessionState, g *pendingRemoval) error {
	if g.tip == "" {
		var keys []string
		for _, q := range s.queue {
			keys = append(keys, q.keys()...)
		}
		for _, tr := range s.saveErrors {
			keys = append(keys, tr.key)
		}
		t.mu.Unlock()
		err := t.Journal.Delete(keys...)
		t.mu.Lock()
		if err == nil {
			s.queue, s.saveErrors = nil, nil
			g.removing, g.due = true, time.Now() // the store has nothing to remove
		}
		return err
	}
	t.mu.Unlock()
	key, err := t.Journal.Put(drafts.Draft{Name: s.name, Base: g.tip, State: drafts.Removed})
	t.mu.Lock()
	if err != nil {
		return fmt.Errorf("removing %q: %w", s.name, err)
	}
	g.key, g.removing, g.due = key, true, time.Now().Add(t.Timing.Removal)
	return nil
}

// removeCarried removes the session whose file was renamed to a scratch name, after that
// file has lost its last name.
func (t *Tree) removeCarried(ctx context.Context, s *sessionState, f *File) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.removal != nil && s.removal.carrier == f && s.removal.tip == "" {
		if err := t.storeText(s); err != nil {
			return err
		}
	}
	t.freeze(s)
	defer t.thaw(s)
	if s.removal == nil || s.removal.carrier != f {
		return nil
	}
	s.removal.carrier = nil
	return t.startRemoval(s, s.removal)
}

// Symlink creates a symbolic link. A session cannot be one.
func (t *Tree) Symlink(ctx context.Context, d *Directory, name, target string) (*File, error) {
	p, err := t.newScratch(ctx, d, name)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.files[p] != nil {
		return nil, domarkx.ErrExists
	}
	f := t.newFile(p, 0o777)
	f.link, f.target = true, target
	t.bind(p, f)
	return f, nil
}

// newScratch checks that a name is free and not a session's, and returns its path.
func (t *Tree) newScratch(ctx context.Context, d *Directory, name string) (string, error) {
	if t.Saver == nil {
		return "", syscall.EROFS
	}
	p, err := t.path(d, name)
	if err != nil {
		return "", err
	}
	f, sub, err := t.Lookup(ctx, d, name)
	if f != nil || sub != nil {
		return "", domarkx.ErrExists
	}
	if !errors.Is(err, domarkx.ErrNotFound) {
		return "", err
	}
	if _, ok := SessionOf(p); ok {
		return "", syscall.EPERM
	}
	return p, nil
}

// Link gives a file another name: a scratch name, or for a scratch file the name of a new
// session. A session cannot have two names.
func (t *Tree) Link(ctx context.Context, f *File, d *Directory, name string, c Caller) error {
	if p, err := t.path(d, name); err == nil {
		if session, ok := SessionOf(p); ok {
			return t.linkSession(ctx, f, d, name, session, c)
		}
	}
	p, err := t.newScratch(ctx, d, name)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.register(f)
	if f.links <= 0 {
		return domarkx.ErrNotFound
	}
	if f.kept != nil {
		return syscall.EPERM
	}
	if t.files[p] != nil {
		return domarkx.ErrExists
	}
	holder := t.inodes[f.ino]
	t.bind(p, f)
	if f.name != "" {
		t.inodes[f.ino] = holder
	}
	return nil
}

func (t *Tree) linkSession(ctx context.Context, f *File, d *Directory, name, session string, c Caller) error {
	if t.Saver == nil {
		return syscall.EROFS
	}
	there, sub, err := t.Lookup(ctx, d, name)
	if there != nil || sub != nil {
		return domarkx.ErrExists
	}
	if !errors.Is(err, domarkx.ErrNotFound) {
		return err
	}
	t.mu.Lock()
	other := f.name != "" || f.link || f.links <= 0 || f.kept != nil
	t.mu.Unlock()
	if other {
		return syscall.EPERM
	}
	return t.adoptAs(ctx, f, session, c)
}
