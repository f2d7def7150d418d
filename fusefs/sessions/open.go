package sessions

import (
	"context"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/fusefs/sessions/basis"
	"github.com/domarkx/domarkx/fusefs/sessions/content"
)

// A Handle is an open file.
type Handle struct {
	file    *File
	write   bool
	closed  bool
	version *basis.Version // last version written through it
}

// A Mode is the access that a handle allows.
type Mode struct {
	Read, Write, Truncate bool
}

// Open opens a file.
func (t *Tree) Open(ctx context.Context, f *File, m Mode, c basis.Caller) (*Handle, error) {
	if m.Write && t.Saver == nil {
		return nil, syscall.EROFS
	}
	t.state.Do(func(st *state) {
		f.opens++
		if m.Write {
			st.register(f)
			f.write++
		}
		if m.Read && f.name != "" {
			st.seen.Put(c, f.name, f.version)
		}
	})
	h := &Handle{file: f, write: m.Write}
	if m.Truncate {
		if err := t.Truncate(ctx, f, h, 0, c); err != nil {
			_ = t.Release(h, c)
			return nil, err
		}
	}
	return h, nil
}

// Read reads from a file like pread. Fewer bytes than requested mean the end of the file.
func (t *Tree) Read(ctx context.Context, f *File, p []byte, off int64) (n int, err error) {
	err = t.fetched(ctx, f, func(*state) (ready bool, err error) {
		n, ready, err = f.readAt(p, off)
		return ready, err
	})
	return n, err
}

// withContent does a step for which the content of a file is in memory.
func (t *Tree) withContent(ctx context.Context, f *File, step func(*state) error) error {
	return t.fetched(ctx, f, func(st *state) (bool, error) {
		ready, err := f.load()
		if ready && err == nil {
			err = step(st)
		}
		return ready, err
	})
}

// fetched does a step that reports whether it had the content that it needs. It fetches that, and does the step again.
func (t *Tree) fetched(ctx context.Context, f *File, step func(*state) (ready bool, err error)) error {
	for {
		ready := false
		err := t.state.Try(func(st *state) (err error) {
			ready, err = step(st)
			return err
		})
		if ready || err != nil {
			return err
		}
		if err := t.fetch(ctx, f); err != nil {
			return err
		}
	}
}

// fetch opens the attached file that a file shows, or renders its snapshot, if that is
// not done yet.
func (t *Tree) fetch(ctx context.Context, f *File) error {
	var a *attached
	id, ready := "", false
	t.state.Do(func(*state) { a, id, ready = f.kept, f.id, f.ready() })
	switch {
	case ready:
		return nil
	case a == nil:
		b, err := t.Snapshots.Markdown(ctx, id)
		if b == nil {
			b = []byte{}
		}
		t.state.Do(func(*state) {
			if err == nil && !f.ready() && f.id == id {
				f.read = b
			}
		})
		return err
	}
	content, err := t.Attachments.Attachment(ctx, a.session.ID, a.file.SHA256)
	if err != nil {
		return err
	}
	t.state.Do(func(*state) { a.content = content })
	return nil
}

// touch prepares a change of the content: it starts a new version. emptied reports that
// no byte of the present content remains.
func (st *state) touch(f *File, h *Handle, c basis.Caller, emptied bool) {
	f.Modified = time.Now()
	f.Changed = f.Modified
	if f.kept != nil { // a view of an attached file becomes a file of the tree
		f.kept = nil
		if st.files[f.path] == nil {
			st.files[f.path] = f
			st.inodes[f.Ino] = f
		}
	}
	f.id = ""
	base := f.version
	if emptied && f.name != "" {
		// A process that empties a file will write content based on its last read.
		if read := st.seen.Get(c, f.name); read != nil {
			base = read
		}
	}
	if !f.dirty || base != f.version {
		f.version = &basis.Version{Prev: base}
	}
	f.dirty = true
	if h != nil {
		h.version = f.version
	}
	if f.name == "" {
		return
	}
	// Record this before the save is acknowledged: another process may do that.
	st.seen.Put(c, f.name, f.version)
	s := st.session(f.name)
	if s.removal == nil && (s.file == nil || !s.file.local()) {
		st.show(s, f)
	}
}

// Write writes to a file like pwrite.
func (t *Tree) Write(ctx context.Context, f *File, h *Handle, p []byte, off int64, c basis.Caller) error {
	if t.Saver == nil {
		return syscall.EROFS
	}
	if f.link {
		return syscall.EINVAL
	}
	late := false
	err := t.withContent(ctx, f, func(st *state) error {
		if off+int64(len(p)) > content.MaxDocument && st.isDurable(f) {
			return syscall.EFBIG
		}
		st.touch(f, h, c, false)
		late = f.write == 0 // a page of a mapped file, written after the last close
		return f.data.WriteAt(p, off, f.name != "", t.Scratch)
	})
	if err == nil && late {
		err = t.acknowledge(f, nil, c, true)
	}
	return err
}

// Truncate sets the size of a file. h is nil if the file was truncated by name.
func (t *Tree) Truncate(ctx context.Context, f *File, h *Handle, size int64, c basis.Caller) error {
	if t.Saver == nil {
		return syscall.EROFS
	}
	unopened := false
	step := func(st *state) error {
		st.register(f)
		if size > content.MaxDocument && st.isDurable(f) {
			return syscall.EFBIG
		}
		if size == f.length() {
			return nil
		}
		st.touch(f, h, c, size == 0)
		if f.data == nil {
			f.data, f.read = &content.Content{}, nil
		}
		unopened = f.write == 0
		return f.data.Truncate(size, f.name != "", t.Scratch)
	}
	var err error
	if size == 0 {
		err = t.state.Try(step)
	} else {
		err = t.withContent(ctx, f, step)
	}
	if err == nil && unopened {
		err = t.acknowledge(f, nil, c, true)
	}
	return err
}

// Zero overwrites a range of the content with zeros. The size does not change.
func (t *Tree) Zero(ctx context.Context, f *File, off, length int64, c basis.Caller) error {
	return t.withContent(ctx, f, func(st *state) error {
		st.touch(f, nil, c, false)
		return f.data.Zero(off, length)
	})
}

// Flush stores the writes durably before a descriptor of the file is closed.
func (t *Tree) Flush(h *Handle, c basis.Caller) error { return t.store(h, c, false) }

// Sync stores the writes durably, and ends the save.
func (t *Tree) Sync(h *Handle, c basis.Caller) error { return t.store(h, c, true) }

func (t *Tree) store(h *Handle, c basis.Caller, ended bool) error {
	if !h.write {
		return nil
	}
	return t.acknowledge(h.file, nil, c, ended)
}

// Release closes a handle.
func (t *Tree) Release(h *Handle, c basis.Caller) error {
	f, closed := h.file, false
	t.state.Do(func(*state) {
		if closed = h.closed; closed {
			return
		}
		h.closed = true
		f.opens--
		if h.write {
			f.write--
		}
	})
	if closed {
		return nil
	}
	var err error
	if h.write {
		if err = t.acknowledge(f, h, c, true); err != nil {
			t.acknowledgeLater(f, c, 0)
		}
	}
	t.state.Do(func(st *state) {
		f.shed()
		st.release(f)
	})
	return err
}

// Writes reports whether the handle is open for writing.
func (h *Handle) Writes() bool { return h.write }
