package overlay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/domarkx/domarkx"
)

// Create makes a file and opens it; where there is one and exclusive is false, it
// opens that.
func (t *Tree) Create(ctx context.Context, d *Folder, name string, perm uint32, exclusive bool, m Mode, c Caller) (*File, *Handle, error) {
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

// Make makes an empty file (mknod).
func (t *Tree) Make(ctx context.Context, d *Folder, name string, perm uint32, c Caller) (*File, error) {
	f, made, err := t.make(ctx, d, name, perm, c)
	if err == nil && !made {
		err = domarkx.ErrExists
	}
	if err == nil {
		err = t.acknowledge(f, nil, c, true)
	}
	return f, err
}

func (t *Tree) make(ctx context.Context, d *Folder, name string, perm uint32, c Caller) (f *File, made bool, err error) {
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
		t.mu.Lock()
		defer t.mu.Unlock()
		if f := t.files[p]; f != nil {
			return f, false, nil
		}
		f := t.newFile(p, perm)
		f.dirty = true
		t.bind(p, f)
		return f, true, nil
	}
	if err := t.checkNew(ctx, session); err != nil {
		return nil, false, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.slot(session)
	t.hold(s)
	defer t.letGo(s)
	if s.file != nil && s.file.local() {
		return s.file, false, nil // somebody else was faster
	}
	f = t.newFile(p, perm)
	f.links, f.dirty = 1, true
	f.name = session
	f.ed = &edition{prev: t.replaces(s, c)}
	if s.gone != nil {
		t.takeBack(s)
	}
	t.show(s, f)
	t.changedIn(p, false)
	return f, true, nil
}

// replaces returns what new content under a name is made from: what the process
// read there, or else what was there.
func (t *Tree) replaces(s *slot, c Caller) *edition {
	var was *edition
	switch {
	case s.file != nil:
		was = s.file.ed
	case s.gone != nil:
		was = s.gone.ed
	default:
		t.seen.forget(s.name) // of another session
		return nil
	}
	if e := t.seen.get(c, s.name); e != nil {
		return e
	}
	return was
}

// checkNew returns an error when there cannot be a session of that name; where its
// name only shows nothing at the moment there can.
func (t *Tree) checkNew(ctx context.Context, session string) error {
	for try := 0; ; try++ {
		t.mu.Lock()
		s := t.slots[session]
		known := s != nil && (s.gone != nil || len(s.queue) > 0)
		var err error
		for other, o := range t.slots {
			if o.file != nil && o.file.local() && clash(other, session) {
				err = fmt.Errorf("session name %q: %w: it clashes with %q", session, domarkx.ErrExists, other)
			}
		}
		t.mu.Unlock()
		if err != nil || known {
			return err
		}
		err = t.Names.CheckName(ctx, session)
		if !errors.Is(err, domarkx.ErrExists) || try > 0 || !t.finishRemovals(session) {
			return err
		}
	}
}

// finishRemovals removes now what was unlinked and clashes with a new name, and
// reports whether there was any.
func (t *Tree) finishRemovals(session string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	var in []*slot
	for name, s := range t.slots {
		if s.gone != nil && s.gone.removing && clash(name, session) {
			in = append(in, s)
		}
	}
	for _, s := range in {
		t.finish(s)
	}
	return len(in) > 0
}

// bind gives a scratch file a name.
func (t *Tree) bind(p string, f *File) {
	t.files[p] = f
	f.links++
	f.changed = time.Now()
	t.inodes[f.ino] = f
	t.changedIn(p, false)
}

// changedIn takes note that a name came to a folder or left it: who empties a
// folder still has it.
func (t *Tree) changedIn(p string, left bool) {
	if d := t.folders[parent(p)]; d != nil {
		d.modified = time.Now()
		d.made = d.made || left
	}
}

// Mkdir makes a folder. It is remembered while the mount lives, and beyond that
// when a session is in it.
func (t *Tree) Mkdir(ctx context.Context, d *Folder, name string, perm uint32) (*Folder, error) {
	if t.Saver == nil {
		return nil, syscall.EROFS
	}
	if strings.HasSuffix(name, Extension) {
		return nil, fmt.Errorf("folder %q: %w: only sessions end in %s", name, domarkx.ErrInvalid, Extension)
	}
	f, sub, err := t.Lookup(ctx, d, name)
	if f != nil || sub != nil {
		return nil, domarkx.ErrExists
	}
	if !errors.Is(err, domarkx.ErrNotFound) {
		return nil, err
	}
	p, err := t.path(d, name)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if made := t.folders[p]; made != nil && made.made || t.files[p] != nil {
		return nil, domarkx.ErrExists
	}
	t.forgetFolder(p)
	sub = t.newFolder(p)
	sub.made, sub.mode = true, perm&0o7777
	t.changedIn(p, false)
	return sub, nil
}

// Rmdir removes an empty folder.
func (t *Tree) Rmdir(ctx context.Context, d *Folder, name string) error {
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
	infos, err := t.lockWithList(ctx, p)
	if err != nil {
		return err
	}
	defer t.mu.Unlock()
	if len(t.list(p, infos)) > 0 {
		return syscall.ENOTEMPTY
	}
	t.forgetFolder(sub.path)
	t.changedIn(sub.path, true)
	return nil
}

// forgetFolder drops a folder that is not there any more.
func (t *Tree) forgetFolder(p string) {
	if d := t.folders[p]; d != nil {
		d.gone, d.made = true, false
		delete(t.folders, p)
		if t.inodes[d.ino] == d {
			delete(t.inodes, d.ino)
		}
	}
}
