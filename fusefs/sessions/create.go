package sessions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// Create creates and opens a file. If the file exists, Create opens it, or fails if
// exclusive is set.
func (t *Tree) Create(ctx context.Context, d *Directory, name string, perm uint32, exclusive bool, m Mode, c basis.Caller) (*File, *Handle, error) {
	f, made, err := t.make(ctx, d, name, perm, c)
	if err != nil {
		return nil, nil, err
	}
	if !made && exclusive {
		return nil, nil, domarkx.ErrExists
	}
	m.Truncate = m.Truncate && !made
	h, err := t.Open(ctx, f, m, c)
	return f, h, err
}

// Make creates an empty file (mknod).
func (t *Tree) Make(ctx context.Context, d *Directory, name string, perm uint32, c basis.Caller) (*File, error) {
	f, made, err := t.make(ctx, d, name, perm, c)
	if err == nil && !made {
		err = domarkx.ErrExists
	}
	if err == nil {
		err = t.acknowledge(f, nil, c, true)
	}
	return f, err
}

func (t *Tree) make(ctx context.Context, d *Directory, name string, perm uint32, c basis.Caller) (f *File, made bool, err error) {
	if t.Saver == nil {
		return nil, false, syscall.EROFS
	}
	f, sub, err := t.Lookup(ctx, d, name)
	switch {
	case sub != nil:
		return nil, false, syscall.EISDIR
	case f != nil:
		return f, false, nil
	case !errors.Is(err, domarkx.ErrNotFound):
		return nil, false, err
	}
	p, err := t.path(d, name)
	if err != nil {
		return nil, false, err
	}
	session, ok := SessionOf(p)
	if !ok {
		t.state.Do(func(st *state) {
			if f = st.files[p]; f == nil {
				f, made = st.newFile(p, perm), true
				f.dirty = true
				st.bind(p, f)
			}
		})
		return f, made, nil
	}
	if err := t.checkNew(ctx, session); err != nil {
		return nil, false, err
	}
	s := t.session(session)
	t.freeze(s)
	t.state.Do(func(st *state) {
		defer st.thaw(s)
		if f = s.file; f != nil && f.local() {
			return // another process created it
		}
		f, made = st.newFile(p, perm), true
		f.links, f.dirty = 1, true
		f.name = session
		f.version = &basis.Version{Prev: st.replaces(s, c)}
		if s.removal != nil {
			st.takeBack(s)
		}
		st.show(s, f)
		st.changedIn(p, false)
	})
	return f, made, nil
}

// replaces returns the version that new content of a session's file is based on: the one
// that the process read under the name, else the one that the name showed last.
func (st *state) replaces(s *sessionState, c basis.Caller) *basis.Version {
	var was *basis.Version
	switch {
	case s.file != nil:
		was = s.file.version
	case s.removal != nil:
		was = s.removal.version
	default:
		st.seen.Forget(s.name) // reads of an earlier session of that name
		return nil
	}
	if e := st.seen.Get(c, s.name); e != nil {
		return e
	}
	return was
}

// checkNew returns an error if a new session cannot have the name. A session whose
// removal is pending does not prevent that.
func (t *Tree) checkNew(ctx context.Context, session string) error {
	for try := 0; ; try++ {
		known := false
		err := t.state.Try(func(st *state) (err error) {
			s := st.sessions[session]
			known = s != nil && (s.removal != nil || len(s.queue) > 0)
			for other, o := range st.sessions {
				if o.file != nil && o.file.local() && clash(other, session) {
					err = fmt.Errorf("session name %q: %w: it clashes with %q", session, domarkx.ErrExists, other)
				}
			}
			return err
		})
		if err != nil || known {
			return err
		}
		err = t.Saver.CheckName(ctx, session)
		if !errors.Is(err, domarkx.ErrExists) || try > 0 || !t.finishRemovals(session) {
			return err
		}
	}
}

// finishRemovals completes the pending removals that clash with a new name, and reports
// whether it found any.
func (t *Tree) finishRemovals(session string) bool {
	var in []*sessionState
	t.state.Do(func(st *state) {
		for name, s := range st.sessions {
			if s.removal != nil && s.removal.removing && clash(name, session) {
				in = append(in, s)
			}
		}
	})
	for _, s := range in {
		t.finish(s)
	}
	return len(in) > 0
}

// bind gives a scratch file a name.
func (st *state) bind(p string, f *File) {
	st.files[p] = f
	f.links++
	f.Changed = time.Now()
	st.inodes[f.Ino] = f
	st.changedIn(p, false)
}

// changedIn records that a name was added to the parent directory of p, or removed from
// it (left). A directory that becomes empty this way continues to exist.
func (st *state) changedIn(p string, left bool) {
	if d := st.directories[parent(p)]; d != nil {
		d.Modified = time.Now()
		d.made = d.made || left
	}
}

// Mkdir creates a directory. If it is empty, it disappears when the mount ends.
func (t *Tree) Mkdir(ctx context.Context, d *Directory, name string, perm uint32) (*Directory, error) {
	if strings.HasSuffix(name, Extension) {
		return nil, fmt.Errorf("directory %q: %w: only sessions end in %s", name, domarkx.ErrInvalid, Extension)
	}
	p, err := t.free(ctx, d, name)
	if err != nil {
		return nil, err
	}
	var sub *Directory
	err = t.state.Try(func(st *state) error {
		if there := st.directories[p]; there != nil && there.made || st.files[p] != nil {
			return domarkx.ErrExists
		}
		st.forgetDirectory(p)
		sub = st.newDirectory(p)
		sub.made, sub.Mode = true, perm&0o7777
		st.changedIn(p, false)
		return nil
	})
	return sub, err
}

// free returns the path of a name that nothing has.
func (t *Tree) free(ctx context.Context, d *Directory, name string) (string, error) {
	if t.Saver == nil {
		return "", syscall.EROFS
	}
	f, sub, err := t.Lookup(ctx, d, name)
	if f != nil || sub != nil {
		return "", domarkx.ErrExists
	}
	if !errors.Is(err, domarkx.ErrNotFound) {
		return "", err
	}
	return t.path(d, name)
}

// Rmdir removes an empty directory.
func (t *Tree) Rmdir(ctx context.Context, d *Directory, name string) error {
	if t.Saver == nil {
		return syscall.EROFS
	}
	f, sub, err := t.Lookup(ctx, d, name)
	if err != nil {
		return err
	}
	if f != nil {
		return syscall.ENOTDIR
	}
	if _, holds, err := t.attachedAt(ctx, sub.path); err != nil || holds {
		return cmp.Or(err, error(syscall.ENOTEMPTY))
	}
	p := sub.path + "/"
	return t.withList(ctx, p, func(st *state, infos []domarkx.Info) error {
		if len(st.list(p, infos)) > 0 {
			return syscall.ENOTEMPTY
		}
		st.forgetDirectory(sub.path)
		st.changedIn(sub.path, true)
		return nil
	})
}

// forgetDirectory drops a directory that no longer exists.
func (st *state) forgetDirectory(p string) {
	if d := st.directories[p]; d != nil {
		d.removed, d.made = true, false
		delete(st.directories, p)
		if st.inodes[d.Ino] == d {
			delete(st.inodes, d.Ino)
		}
	}
}
