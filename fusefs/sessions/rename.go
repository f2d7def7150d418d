package sessions

import (
	"cmp"
	"context"
	"errors"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Replacing selects the effect of a rename if the new name exists.
type Replacing int

// The ways of renaming (renameat2(2)).
const (
	Replace   Replacing = iota // the other file loses the name
	NoReplace                  // the rename fails with domarkx.ErrExists
	Exchange                   // the files swap names; both must be scratch
)

// Rename renames a file or directory. A session that is renamed to the name of another
// session becomes the next snapshot of that one. A session that is renamed to a scratch
// name stays in the store while the scratch file exists.
func (t *Tree) Rename(ctx context.Context, from *Directory, oldName string, to *Directory, newName string, how Replacing, c Caller) error {
	if t.Saver == nil {
		return syscall.EROFS
	}
	oldPath, err := t.path(from, oldName)
	if err != nil {
		return err
	}
	newPath, err := t.path(to, newName)
	if err != nil {
		return err
	}
	f, sub, err := t.Lookup(ctx, from, oldName)
	if err != nil {
		return err
	}
	target, targetDirectory, err := t.Lookup(ctx, to, newName)
	if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
		return err
	}
	if sub != nil {
		if keeps, err := t.keepsBelow(ctx, sub.path); err != nil || keeps {
			return cmp.Or(err, error(syscall.EPERM))
		}
	} else if t.isKept(f) {
		return syscall.EPERM // sessions have attached it under this path
	}
	taken := target != nil || targetDirectory != nil
	switch {
	case how == Exchange:
		return t.exchange(oldPath, newPath, taken)
	case how == NoReplace && taken:
		return domarkx.ErrExists
	case oldPath == newPath:
		return nil
	case sub != nil && target != nil:
		return syscall.ENOTDIR
	case sub != nil:
		return t.renameDirectory(ctx, sub, newPath, targetDirectory, c)
	case targetDirectory != nil:
		return syscall.EISDIR
	case target == f:
		return nil // as POSIX demands for two names of one file
	}
	return t.renameFile(ctx, f, oldPath, newPath, c)
}

// isKept reports whether a file is a view of an attached file.
func (t *Tree) isKept(f *File) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return f.kept != nil
}

func (t *Tree) renameFile(ctx context.Context, f *File, oldPath, newPath string, c Caller) error {
	oldSession, wasSession := SessionOf(oldPath)
	newSession, isSession := SessionOf(newPath)
	switch {
	case f.link && isSession:
		return syscall.EPERM
	case wasSession && isSession:
		return t.renameSession(ctx, oldSession, newSession, c)
	case wasSession:
		return t.carryAway(ctx, oldSession, newPath)
	case isSession:
		if err := t.adoptAs(ctx, f, newSession, c); err != nil {
			return err
		}
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.files[oldPath] == f {
			delete(t.files, oldPath)
			f.links--
		}
		t.changedIn(oldPath, true)
		t.changedIn(newPath, false)
		t.mu.Unlock()
		err := t.keepFile(f)
		t.mu.Lock()
		return err
	}
	return t.renameScratch(ctx, oldPath, newPath)
}

func (t *Tree) renameScratch(ctx context.Context, oldPath, newPath string) error {
	t.mu.Lock()
	f := t.files[oldPath]
	if f == nil {
		t.mu.Unlock()
		return domarkx.ErrNotFound
	}
	displaced, s := t.displace(newPath)
	delete(t.files, oldPath)
	t.files[newPath] = f
	t.changedIn(oldPath, true)
	t.changedIn(newPath, false)
	t.mu.Unlock()
	if s != nil {
		if err := t.removeCarried(ctx, s, displaced); err != nil {
			return err
		}
	}
	return t.keepFiles(f, displaced)
}

// displace removes a scratch name. It returns the file that had it, and the session as
// [Tree.unbind] does.
func (st *state) displace(p string) (*File, *sessionState) {
	f := st.files[p]
	if f == nil {
		return nil, nil
	}
	return f, st.unbind(p)
}

// exchange swaps the names of two scratch files.
func (t *Tree) exchange(a, b string, both bool) error {
	if !both {
		return domarkx.ErrNotFound
	}
	t.mu.Lock()
	one, other := t.files[a], t.files[b]
	if one == nil || other == nil || one.kept != nil || other.kept != nil {
		t.mu.Unlock()
		return syscall.EINVAL
	}
	t.files[a], t.files[b] = other, one
	t.changedIn(a, false)
	t.changedIn(b, false)
	t.mu.Unlock()
	return t.keepFiles(one, other)
}

// carryAway renames a session's file to a scratch name. In many editors that is the first
// half of a save. The session stays in the store, but its name is hidden.
func (t *Tree) carryAway(ctx context.Context, session, newPath string) error {
	s, info, err := t.freezeSession(ctx, session)
	if err != nil {
		return err
	}
	f := t.shown(session, info)
	if f == nil {
		t.thaw(s)
		t.mu.Unlock()
		return domarkx.ErrNotFound
	}
	displaced, other := t.displace(newPath)
	t.show(s, f)
	t.hide(s, &pendingRemoval{tip: info.ID, version: f.version, carrier: f})
	f.dirty = false
	t.files[newPath] = f
	t.changedIn(pathOf(session), true)
	t.changedIn(newPath, false)
	t.thaw(s)
	t.mu.Unlock()
	if other != nil {
		if err := t.removeCarried(ctx, other, displaced); err != nil {
			return err
		}
	}
	return t.keepFiles(displaced)
}

// freezeSession freezes a session, locks t.mu and returns the newest snapshot, without an
// ID if the session does not exist. On an error it does neither.
func (t *Tree) freezeSession(ctx context.Context, session string) (*sessionState, domarkx.Info, error) {
	t.mu.Lock()
	s := t.session(session)
	t.freeze(s)
	t.mu.Unlock()
	info, err := t.Sessions.Info(ctx, session)
	t.mu.Lock()
	if err == nil {
		return s, info, nil
	}
	if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrInvalid) {
		return s, domarkx.Info{}, nil
	}
	t.thaw(s)
	t.mu.Unlock()
	return nil, info, err
}

// adoptAs makes the content of a scratch file the next snapshot of a session, or a new
// session.
func (t *Tree) adoptAs(ctx context.Context, f *File, session string, c Caller) error {
	if err := t.checkReplacing(ctx, session); err != nil {
		return err
	}
	if err := t.pin(ctx, f); err != nil {
		return err
	}
	s, info, err := t.freezeSession(ctx, session)
	if err != nil {
		t.unpin(f)
		return err
	}
	err = t.become(s, f, info, c)
	t.thaw(s)
	t.mu.Unlock()
	t.unpin(f)
	return err
}

// checkReplacing returns an error if a session does not exist and no new session can have
// its name.
func (t *Tree) checkReplacing(ctx context.Context, session string) error {
	tips, err := t.lockWithTips(ctx, session)
	if err != nil {
		return err
	}
	there := t.shown(session, tips[0]) != nil
	t.mu.Unlock()
	if there {
		return nil
	}
	return t.checkNew(ctx, session)
}

// pin loads the content of a file and keeps it in memory until unpin.
func (t *Tree) pin(ctx context.Context, f *File) error {
	if err := t.load(ctx, f); err != nil {
		return err
	}
	defer t.mu.Unlock()
	if f.length() > maxDocument {
		return syscall.EFBIG
	}
	f.opens++
	return nil
}

func (t *Tree) unpin(f *File) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.opens--
	f.shed()
	t.release(f)
}

// become makes a pinned scratch file the file of a session, and saves its content. The
// session must be frozen and t.mu held.
func (t *Tree) become(s *sessionState, f *File, tip domarkx.Info, c Caller) error {
	displaced := t.shown(s.name, tip)
	back := s.removal != nil && s.removal.carrier == f && f.id != "" && f.id == s.removal.tip
	if displaced != nil {
		t.show(s, displaced)
	}
	if !back {
		was, wasName := f.version, f.name
		f.version = &baseVersion{prev: t.replaces(s, c)}
		f.id, f.dirty, f.name = "", true, s.name
		if err := t.keep(s, f, nil, c, true); err != nil {
			f.version, f.name = was, wasName
			return err
		}
	}
	if s.removal != nil {
		t.takeBack(s)
	}
	if displaced != nil && displaced != f {
		t.hide(s, nil)
		displaced.links--
		t.release(displaced)
	}
	f.name = s.name
	f.links++
	t.show(s, f)
	t.changedIn(pathOf(s.name), false)
	stale := s.stale
	s.stale = nil
	t.mu.Unlock()
	err := t.Journal.Delete(stale...)
	t.mu.Lock()
	return err
}
