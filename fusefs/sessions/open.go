package sessions

import (
	"context"
	"syscall"
	"time"
)

// A Handle is an open file.
type Handle struct {
	file    *File
	write   bool
	closed  bool
	version *baseVersion // last version written through it
}

// A Mode is the access that a handle allows.
type Mode struct {
	Read, Write, Truncate bool
}

// Open opens a file.
func (t *Tree) Open(ctx context.Context, f *File, m Mode, c Caller) (*Handle, error) {
	if m.Write && t.Saver == nil {
		return nil, syscall.EROFS
	}
	t.mu.Lock()
	f.opens++
	if m.Write {
		t.register(f)
		f.write++
	}
	if m.Read && f.name != "" {
		t.seen.put(c, f.name, f.version)
	}
	t.mu.Unlock()
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
func (t *Tree) Read(ctx context.Context, f *File, p []byte, off int64) (int, error) {
	t.mu.Lock()
	for {
		if f.data != nil {
			defer t.mu.Unlock()
			return f.data.readAt(p, off)
		}
		if f.kept != nil {
			defer t.mu.Unlock()
			return t.readAttached(ctx, f, p, off)
		}
		if f.read != nil {
			b := f.read
			t.mu.Unlock()
			if off >= int64(len(b)) {
				return 0, nil
			}
			return copy(p, b[off:]), nil
		}
		id := f.id
		t.mu.Unlock()
		b, err := t.render(ctx, id)
		if err != nil {
			return 0, err
		}
		t.mu.Lock()
		if f.data == nil && f.id == id {
			f.read = b
		}
	}
}

// render returns the bytes of a snapshot, never nil.
func (t *Tree) render(ctx context.Context, id string) ([]byte, error) {
	b, err := t.Snapshots.Markdown(ctx, id)
	if b == nil && err == nil {
		b = []byte{}
	}
	return b, err
}

// load loads the content into memory and locks t.mu. On an error t.mu is not locked.
func (t *Tree) load(ctx context.Context, f *File) error {
	t.mu.Lock()
	for f.data == nil {
		if f.kept != nil {
			if err := t.loadAttached(ctx, f); err != nil {
				t.mu.Unlock()
				return err
			}
			continue
		}
		id, b := f.id, f.read
		if b == nil {
			t.mu.Unlock()
			var err error
			if b, err = t.render(ctx, id); err != nil {
				return err
			}
			t.mu.Lock()
		}
		if f.data == nil && f.id == id {
			f.data, f.read = contentOf(b), nil
		}
	}
	return nil
}

// touch prepares a change of the content: it starts a new version. emptied reports that
// no byte of the present content remains.
func (st *state) touch(f *File, h *Handle, c Caller, emptied bool) {
	f.modified = time.Now()
	f.changed = f.modified
	if f.kept != nil {
		st.bindAttached(f)
	}
	f.id = ""
	base := f.version
	if emptied && f.name != "" {
		// A process that empties a file will write content based on its last read.
		if read := st.seen.get(c, f.name); read != nil {
			base = read
		}
	}
	if !f.dirty || base != f.version {
		f.version = &baseVersion{prev: base}
	}
	f.dirty = true
	if h != nil {
		h.version = f.version
	}
	if f.name == "" {
		return
	}
	// Record this before the save is acknowledged: another process may do that.
	st.seen.put(c, f.name, f.version)
	s := st.session(f.name)
	if s.removal == nil && (s.file == nil || !s.file.local()) {
		st.show(s, f)
	}
}

// Write writes to a file like pwrite.
func (t *Tree) Write(ctx context.Context, f *File, h *Handle, p []byte, off int64, c Caller) error {
	if t.Saver == nil {
		return syscall.EROFS
	}
	if f.link {
		return syscall.EINVAL
	}
	if err := t.load(ctx, f); err != nil {
		return err
	}
	if off+int64(len(p)) > maxDocument && t.isDurable(f) {
		t.mu.Unlock()
		return syscall.EFBIG
	}
	t.touch(f, h, c, false)
	err := f.data.writeAt(p, off, f.name != "", t.Scratch)
	late := f.write == 0 // a page of a mapped file, written after the last close
	t.mu.Unlock()
	if err == nil && late {
		err = t.acknowledge(f, nil, c, true)
	}
	return err
}

// Truncate sets the size of a file. h is nil if the file was truncated by name.
func (t *Tree) Truncate(ctx context.Context, f *File, h *Handle, size int64, c Caller) error {
	if t.Saver == nil {
		return syscall.EROFS
	}
	if size == 0 {
		t.mu.Lock()
		t.register(f)
	} else {
		if err := t.load(ctx, f); err != nil {
			return err
		}
		t.register(f)
	}
	if size > maxDocument && t.isDurable(f) {
		t.mu.Unlock()
		return syscall.EFBIG
	}
	if size == f.length() {
		t.mu.Unlock()
		return nil
	}
	t.touch(f, h, c, size == 0)
	if f.data == nil {
		f.data, f.read = &content{}, nil
	}
	err := f.data.truncate(size, f.name != "", t.Scratch)
	unopened := f.write == 0
	t.mu.Unlock()
	if err == nil && unopened {
		err = t.acknowledge(f, nil, c, true)
	}
	return err
}

// Zero overwrites a range of the content with zeros. The size does not change.
func (t *Tree) Zero(ctx context.Context, f *File, off, length int64, c Caller) error {
	if err := t.load(ctx, f); err != nil {
		return err
	}
	defer t.mu.Unlock()
	t.touch(f, nil, c, false)
	return f.data.zero(off, length)
}

// Flush stores the writes durably before a descriptor of the file is closed.
func (t *Tree) Flush(h *Handle, c Caller) error {
	if !h.write {
		return nil
	}
	return t.acknowledge(h.file, nil, c, false)
}

// Sync stores the writes durably, and ends the save.
func (t *Tree) Sync(h *Handle, c Caller) error {
	if !h.write {
		return nil
	}
	return t.acknowledge(h.file, nil, c, true)
}

// Release closes a handle.
func (t *Tree) Release(h *Handle, c Caller) error {
	t.mu.Lock()
	f := h.file
	if h.closed {
		t.mu.Unlock()
		return nil
	}
	h.closed = true
	f.opens--
	if h.write {
		f.write--
	}
	t.mu.Unlock()
	var err error
	if h.write {
		if err = t.acknowledge(f, h, c, true); err != nil {
			t.acknowledgeLater(f, c, 0)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	f.shed()
	t.release(f)
	return err
}

// Writes reports whether the handle is open for writing.
func (h *Handle) Writes() bool { return h.write }
