package sessions

import (
	"cmp"
	"context"
	"errors"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
	"github.com/domarkx/domarkx/fusefs/sessions/content"
)

// Replacing selects the effect of a rename if the new name exists.
type Replacing uint32

// The ways of renaming, as the flags of renameat2(2).
const (
	Replace   Replacing = iota // the other file loses the name
	NoReplace                  // the rename fails with domarkx.ErrExists
	Exchange                   // the files swap names; both must be scratch
)

// Rename renames a file or directory. A session that is renamed to the name of another
// session becomes the next snapshot of that one. A session that is renamed to a scratch
// name stays in the store while the scratch file exists.
func (t *Tree) Rename(ctx context.Context, from *Directory, oldName string, to *Directory, newName string, how Replacing, c basis.Caller) error {
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
	keeps := false // whether sessions have attached something under this path
	if sub != nil {
		keeps, err = t.keepsBelow(ctx, sub.path)
	} else {
		t.state.Do(func(*state) { keeps, err = f.kept != nil, nil })
	}
	if err != nil || keeps {
		return cmp.Or(err, error(syscall.EPERM))
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

func (t *Tree) renameFile(ctx context.Context, f *File, oldPath, newPath string, c basis.Caller) error {
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
		t.state.Do(func(st *state) {
			if st.files[oldPath] == f {
				delete(st.files, oldPath)
				f.links--
			}
			st.changedIn(oldPath, true)
			st.changedIn(newPath, false)
		})
		return t.keepFile(f)
	}
	return t.renameScratch(oldPath, newPath)
}

func (t *Tree) renameScratch(oldPath, newPath string) error {
	var f, displaced *File
	var s *sessionState
	t.state.Do(func(st *state) {
		if f = st.files[oldPath]; f == nil {
			return
		}
		displaced, s = st.displace(newPath)
		delete(st.files, oldPath)
		st.files[newPath] = f
		st.changedIn(oldPath, true)
		st.changedIn(newPath, false)
	})
	if f == nil {
		return domarkx.ErrNotFound
	}
	if err := t.removeCarried(s, displaced); err != nil {
		return err
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
	var one, other *File
	err := t.state.Try(func(st *state) error {
		one, other = st.files[a], st.files[b]
		if one == nil || other == nil || one.kept != nil || other.kept != nil {
			return syscall.EINVAL
		}
		st.files[a], st.files[b] = other, one
		st.changedIn(a, false)
		st.changedIn(b, false)
		return nil
	})
	if err != nil {
		return err
	}
	return t.keepFiles(one, other)
}

// carryAway renames a session's file to a scratch name. In many editors that is the first
// half of a save. The session stays in the store, but its name is hidden. The file becomes a
// draft, unless its new name is one that editors use for temporary files: another file may get
// the session's name.
func (t *Tree) carryAway(ctx context.Context, session, newPath string) error {
	s, info, err := t.freezeSession(ctx, session)
	if err != nil {
		return err
	}
	var f, displaced *File
	var other *sessionState
	err = t.state.Try(func(st *state) error {
		defer st.thaw(s)
		if f = st.shown(session, info); f == nil {
			return domarkx.ErrNotFound
		}
		displaced, other = st.displace(newPath)
		st.show(s, f)
		st.hide(s, &pendingRemoval{tip: info.ID, version: f.version, carrier: f})
		f.dirty = true
		st.files[newPath] = f
		st.changedIn(pathOf(session), true)
		st.changedIn(newPath, false)
		return nil
	})
	if err != nil {
		return err
	}
	if err := t.removeCarried(other, displaced); err != nil {
		return err
	}
	return t.keepFiles(f, displaced)
}

// freezeSession freezes a session and returns its newest snapshot, without an ID if the
// session does not exist. On an error it is not frozen.
func (t *Tree) freezeSession(ctx context.Context, session string) (*sessionState, domarkx.Info, error) {
	s := t.session(session)
	t.freeze(s)
	tip, err := t.tip(ctx, session)
	if err != nil {
		t.thaw(s)
	}
	return s, tip, err
}

// adoptAs makes the content of a scratch file the next snapshot of a session, or a new
// session.
func (t *Tree) adoptAs(ctx context.Context, f *File, session string, c basis.Caller) error {
	there, _, err := t.shows(ctx, session)
	if err == nil && there == nil {
		err = t.checkNew(ctx, session)
	}
	if err != nil {
		return err
	}
	if err := t.pin(ctx, f); err != nil {
		return err
	}
	defer t.unpin(f)
	s, info, err := t.freezeSession(ctx, session)
	if err != nil {
		return err
	}
	defer t.thaw(s)
	return t.become(s, f, info, c)
}

// pin loads the content of a file and keeps it in memory until unpin.
func (t *Tree) pin(ctx context.Context, f *File) error {
	return t.withContent(ctx, f, func(*state) error {
		if f.length() > content.MaxDocument {
			return syscall.EFBIG
		}
		f.opens++
		return nil
	})
}

func (t *Tree) unpin(f *File) {
	t.state.Do(func(st *state) {
		f.opens--
		f.shed()
		st.release(f)
	})
}

// become makes a pinned scratch file the file of a frozen session, and saves its content.
func (t *Tree) become(s *sessionState, f *File, tip domarkx.Info, c basis.Caller) error {
	var displaced *File
	var a *ack
	var was *basis.Version
	var wasName string
	undo := func() { f.version, f.name = was, wasName }
	err := t.state.Try(func(st *state) (err error) {
		displaced = st.shown(s.name, tip)
		back := s.removal != nil && s.removal.carrier == f && f.id != "" && f.id == s.removal.tip
		if displaced != nil {
			st.show(s, displaced)
		}
		if back {
			f.dirty = false
			return nil
		}
		was, wasName = f.version, f.name
		f.version = &basis.Version{Prev: st.replaces(s, c)}
		f.id, f.dirty, f.name = "", true, s.name
		if a, err = s.acknowledging(f, nil, c, true); err != nil {
			undo()
		}
		return err
	})
	if err != nil {
		return err
	}
	if a != nil {
		if err := t.journal(s, a); err != nil {
			t.state.Do(func(*state) { undo() })
			return err
		}
	}
	var stale []string
	t.state.Do(func(st *state) {
		if s.removal != nil {
			st.takeBack(s)
		}
		if displaced != nil && displaced != f {
			st.hide(s, nil)
			displaced.links--
			st.release(displaced)
		}
		f.name = s.name
		f.links++
		st.show(s, f)
		st.changedIn(pathOf(s.name), false)
		stale, s.stale = s.stale, nil
	})
	return t.Journal.Delete(stale...)
}
