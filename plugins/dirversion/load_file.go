package dirversion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// keep reports whether a regular file already matches the version.
func (l *load) keep(ctx context.Context, d *beneath.Dir, path string, t task) (bool, error) {
	h := t.have
	if h != nil && h.id == "" {
		if _, ok := l.f.captured(join(path, t.want.Name), h.stat); !ok {
			l.f.observe.leaveAlone(join(path, t.want.Name))
			return true, nil
		}
	}
	if h == nil || h.stat.Size != t.want.Size || h.stat.Mode != t.want.Mode {
		return false, nil
	}
	if h.stat.Links > 1 {
		if _, ok := l.written[h.stat.Identity]; ok {
			return false, nil // it has several hard links here, but only one in the version
		}
	}
	if h.id == "" {
		same, err := l.equal(ctx, d, t)
		if !same || err != nil {
			return false, err
		}
	} else if h.id != t.want.ID || !sameXattrs(h.xattrs, t.want.Xattrs) {
		return false, nil
	}
	if h.stat.Links > 1 {
		l.written[h.stat.Identity] = join(path, t.want.Name)
	}
	*t.rec = *h
	t.rec.name, t.rec.id, t.rec.xattrs = t.want.Name, t.want.ID, t.want.Xattrs
	return true, nil
}

// equal compares a file with its content in the version, and records the content id.
func (l *load) equal(ctx context.Context, d *beneath.Dir, t task) (bool, error) {
	f, err := d.OpenFile(t.want.Name)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	began := time.Now()
	attrs, err := f.Xattrs()
	if err != nil || !sameXattrs(attrs, t.want.Xattrs) {
		return false, err
	}
	content, err := l.r.Content(ctx, t.want.ID)
	if err != nil {
		return false, err
	}
	defer content.Close()
	same, err := equalReaders(ctx, f, io.NewSectionReader(content, 0, content.Size()))
	if !same || err != nil {
		return false, err
	}
	after, err := f.Stat()
	t.have.racy = t.have.stat.Racy(began)
	return err == nil && after.Same(t.have.stat), err
}

func equalReaders(ctx context.Context, a, b io.Reader) (bool, error) {
	const piece = 64 << 10
	one, two := make([]byte, piece), make([]byte, piece)
	for ctx.Err() == nil {
		n, aerr := io.ReadFull(a, one)
		m, berr := io.ReadFull(b, two)
		if n != m || string(one[:n]) != string(two[:m]) {
			return false, nil
		}
		if ended(aerr) || ended(berr) {
			return ended(aerr) && ended(berr), nil
		}
		if err := errors.Join(aerr, berr); err != nil {
			return false, err
		}
	}
	return false, ctx.Err()
}

func ended(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// writeFiles writes regular files in parallel.
func (l *load) writeFiles(ctx context.Context, d *beneath.Dir, path string, tasks []task) error {
	return parallel(ctx, max(2, runtime.GOMAXPROCS(0)), tasks, func(ctx context.Context, t task) error {
		return explain(join(path, t.want.Name), l.writeFile(ctx, d, path, t))
	})
}

// writeFile writes a regular file: directly if the path is free, otherwise to a temporary
// file that replaces it.
func (l *load) writeFile(ctx context.Context, d *beneath.Dir, path string, t task) error {
	at := join(path, t.want.Name)
	in, name := d, t.want.Name
	if t.have != nil || l.aside() != nil {
		in, name = l.scratch(d), scratchName()
	}
	st, err := l.writeNew(ctx, in, name, t.want)
	if err == nil && name != t.want.Name {
		st, err = l.place(ctx, d, at, in, name, st, t.have != nil)
	}
	if err != nil {
		return err
	}
	*t.rec = record{name: t.want.Name, stat: st, id: t.want.ID, xattrs: t.want.Xattrs}
	l.mu.Lock()
	l.newest = max(l.newest, st.Ctime)
	l.mu.Unlock()
	return nil
}

// writeNew writes a new file. It removes the file again after an error.
func (l *load) writeNew(ctx context.Context, d *beneath.Dir, name string, want domarkx.File) (st beneath.Stat, err error) {
	content, err := l.r.Content(ctx, want.ID)
	if err != nil {
		return st, err
	}
	defer content.Close()
	if content.Size() != want.Size {
		return st, fmt.Errorf("its content has %d bytes, not %d: %w", content.Size(), want.Size, domarkx.ErrCorrupt)
	}
	f, err := d.Create(name)
	if err != nil {
		return st, err
	}
	defer func() {
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			_ = d.Unlink(name)
		}
	}()
	if err := copyContent(ctx, f, content); err != nil {
		return st, err
	}
	if len(want.Xattrs) > 0 {
		if err := l.attributes(want.Name, f.SetXattrs(want.Xattrs)); err != nil {
			return st, err
		}
	}
	if err := f.Chmod(want.Mode); err != nil {
		return st, err
	}
	if l.aside() != nil {
		if err := f.Touch(); err != nil {
			return st, err
		}
	}
	return f.Stat()
}

// aside returns where an observed directory's files are replaced, or nil.
func (l *load) aside() *aside {
	if l.f.observe == nil {
		return nil
	}
	return l.f.observe.aside
}

// scratch returns the directory for the temporary files of a directory.
func (l *load) scratch(d *beneath.Dir) *beneath.Dir {
	if a := l.aside(); a != nil {
		return a.d
	}
	return d
}

// place moves a new file from l.scratch to its place, and returns its stat there. In an observed directory, a file that
// another program changed or created meanwhile stays instead.
func (l *load) place(ctx context.Context, d *beneath.Dir, at string, from *beneath.Dir, scratch string, st beneath.Stat, replaces bool) (beneath.Stat, error) {
	_, name := split(at)
	if a := l.aside(); a != nil {
		var was *record
		if replaces {
			was = l.f.observe.savedRecord(at)
		}
		changed, err := a.place(ctx, d, at, scratch, was)
		if changed {
			l.f.observe.leaveAlone(at)
		}
		return st, err // no cache records it
	}
	if err := d.Rename(scratch, name); err != nil {
		_ = d.Unlink(scratch)
		return st, err
	}
	now, err := d.Stat(name) // renaming changes the ctime
	if err != nil || !now.Moved(st) {
		return st, err // another program replaced it already: the next commit reads it
	}
	return now, nil
}

// leaveAttributes removes from f the extended attributes that this user cannot keep, and warns
// once. Such attributes come from a container, from a user with more rights or from a hostile
// remote.
func (l *load) leaveAttributes(path string, f *domarkx.File) {
	first := slices.IndexFunc(f.Xattrs, func(a domarkx.Xattr) bool { return !beneath.KeepsXattr(a.Name) })
	if first < 0 {
		return
	}
	l.lostXattrs.Do(func() {
		l.f.warn(fmt.Sprintf("%s and maybe more lose extended attributes, such as %q: this user cannot keep them", quoted(path), f.Xattrs[first].Name))
	})
	f.Xattrs = slices.DeleteFunc(slices.Clone(f.Xattrs), func(a domarkx.Xattr) bool { return !beneath.KeepsXattr(a.Name) })
}

// attributes warns once that the file system has no extended attributes.
func (l *load) attributes(path string, err error) error {
	if !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	l.noXattrs.Do(func() {
		l.f.warn(fmt.Sprintf("%q and maybe more lose their extended attributes: the file system keeps none", path))
	})
	return nil
}

// holeSize is the number of consecutive zero bytes that are written as a hole.
const holeSize = 64 << 10

var zeros [holeSize]byte

// copyContent writes content to an empty file. It writes long runs of zeros as holes, so that
// a sparse file cannot fill the disk.
func copyContent(ctx context.Context, f *beneath.File, c domarkx.Content) error {
	buf := make([]byte, min(holeSize, c.Size()))
	for at := int64(0); at < c.Size(); {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := c.ReadAt(buf[:min(holeSize, c.Size()-at)], at)
		if n == 0 && err != nil {
			return err
		}
		if !bytes.Equal(buf[:n], zeros[:]) {
			if _, err := f.WriteAt(buf[:n], at); err != nil {
				return err
			}
		}
		at += int64(n)
	}
	return f.Truncate(c.Size())
}
