package dirversion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// special creates a file that is not a regular file.
func (l *load) special(ctx context.Context, d *beneath.Dir, at string, t task, modify func() error) error {
	w := t.want
	target := ""
	if w.Type == domarkx.Symlink {
		var err error
		if target, err = l.target(ctx, w); err != nil {
			return err
		}
	}
	if h := t.have; h != nil {
		if _, ok := l.f.captured(at, h.stat); !ok && w.Type != domarkx.Directory {
			l.f.observe.leaveAlone(at)
			return nil
		}
		same := true
		switch w.Type {
		case domarkx.Symlink:
			now, err := d.Readlink(w.Name)
			same = err == nil && now == target
		case domarkx.Fifo, domarkx.CharDevice, domarkx.BlockDevice:
			same = h.stat.Mode == w.Mode && h.stat.Major == w.Major && h.stat.Minor == w.Minor
		}
		if same {
			*t.rec = *h
			t.rec.target = target
			return nil
		}
	}
	if err := modify(); err != nil {
		return err
	}
	if w.Type == domarkx.Directory {
		err := d.Mkdir(w.Name)
		if l.f.observe != nil && errors.Is(err, fs.ErrExist) {
			err = nil // another program made it: its files are left alone
		}
		return err
	}
	in, scratch := l.scratch(d), scratchName()
	var err error
	switch w.Type {
	case domarkx.Symlink:
		err = in.Symlink(target, scratch)
	case domarkx.Fifo, domarkx.CharDevice, domarkx.BlockDevice:
		err = in.Mknod(scratch, w)
	default:
		err = fmt.Errorf("%v: %w", w.Type, domarkx.ErrUnsupported)
	}
	if err != nil {
		_ = in.Unlink(scratch)
		return err
	}
	st, err := in.Stat(scratch)
	if err != nil {
		return err
	}
	if st, err = l.place(ctx, d, at, in, scratch, st, t.have != nil); err != nil {
		return err
	}
	*t.rec = record{name: w.Name, stat: st, target: target}
	l.newest = max(l.newest, st.Ctime)
	return nil
}

// maxTarget limits the target of a symbolic link, in bytes; kernels allow less (PATH_MAX).
const maxTarget = 64 << 10

// target reads the target of a symbolic link.
func (l *load) target(ctx context.Context, f domarkx.File) (string, error) {
	if f.Target != "" {
		return f.Target, nil
	}
	target, err := domarkx.ReadContent(ctx, l.r, f.ID, maxTarget)
	return string(target), err
}

// makeLinks creates the hard links to files that were written before, and records their stats.
func (l *load) makeLinks(ctx context.Context) error {
	changed := map[string]map[string]beneath.Stat{}
	note := func(path string, d *beneath.Dir, name string) error {
		st, err := d.Stat(name)
		if err != nil {
			return err
		}
		directory, _ := split(path)
		if changed[directory] == nil {
			changed[directory] = map[string]beneath.Stat{}
		}
		changed[directory][name] = st
		l.newest = max(l.newest, st.Ctime)
		return nil
	}
	read := map[string][]domarkx.File{} // directories of the version, by path
	for _, p := range l.links {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := l.checkLink(ctx, p, read); err != nil {
			return err
		}
		if err := l.link(ctx, p, note); err != nil {
			return explain(p.path, err)
		}
	}
	for directory, stats := range changed {
		l.out.patch(directory, stats)
	}
	return nil
}

// checkLink rejects a hard link to a file that is missing in the version or differs there:
// the written file would not match the version.
func (l *load) checkLink(ctx context.Context, p pendingLink, read map[string][]domarkx.File) error {
	directory, name := split(p.want.HardLink)
	files, err := l.filesIn(ctx, directory, read)
	if err != nil {
		return fmt.Errorf("%s: %w", quoted(p.path), err)
	}
	w := p.want
	if f := fileNamed(files, name); f.Type != w.Type || f.ID != w.ID || f.Mode != w.Mode || f.Major != w.Major || f.Minor != w.Minor || f.HardLink != "" {
		return fmt.Errorf("%s is a hard link to %q, which is a different file: %w", quoted(p.path), w.HardLink, domarkx.ErrCorrupt)
	}
	return nil
}

// filesIn returns the files in a directory of the version, none if it is not a directory.
func (l *load) filesIn(ctx context.Context, path string, read map[string][]domarkx.File) ([]domarkx.File, error) {
	if files, ok := read[path]; ok {
		return files, nil
	}
	id := l.top
	if path != "" {
		above, name := split(path)
		files, err := l.filesIn(ctx, above, read)
		if err != nil {
			return nil, err
		}
		if id = directoryIn(files, name); id == "" {
			return nil, nil
		}
	}
	files, err := l.r.Directory(ctx, id)
	if err == nil {
		read[path] = files
	}
	return files, err
}

func fileNamed(files []domarkx.File, name string) domarkx.File {
	i, ok := slices.BinarySearchFunc(files, name, func(f domarkx.File, name string) int { return strings.Compare(f.Name, name) })
	if !ok {
		return domarkx.File{}
	}
	return files[i]
}

// directoryIn returns the id of a directory among files sorted by name, "" if there is none.
func directoryIn(files []domarkx.File, name string) string {
	if f := fileNamed(files, name); f.Type == domarkx.Directory {
		return f.ID
	}
	return ""
}

// link creates one hard link.
func (l *load) link(ctx context.Context, p pendingLink, note func(string, *beneath.Dir, string) error) error {
	firstDirectory, first := split(p.want.HardLink)
	directory, name := split(p.path)
	if l.f.excludedBelow(p.want.HardLink) {
		return fmt.Errorf("is a hard link to %q, which is excluded: %w", p.want.HardLink, domarkx.ErrInvalid)
	}
	from, err := l.f.top.Open(firstDirectory)
	if err != nil {
		return err
	}
	defer from.Close()
	d, err := l.f.top.Open(directory)
	if err != nil {
		return err
	}
	defer d.Close()
	a, err := from.Stat(first)
	if err != nil {
		return err
	}
	b, err := d.Stat(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if replaces := err == nil; !replaces || a.Identity != b.Identity || a.Ino == 0 {
		if _, ok := l.f.captured(p.path, b); replaces && !ok || l.f.observe.isAlone(p.want.HardLink) {
			l.f.observe.leaveAlone(p.path)
			return nil
		}
		in, scratch := l.scratch(d), scratchName()
		if err := in.Link(from, first, scratch); err != nil {
			return err
		}
		if _, err := l.place(ctx, d, p.path, in, scratch, a, replaces); err != nil {
			return err
		}
	}
	if err := note(p.want.HardLink, from, first); err != nil {
		return err
	}
	return note(p.path, d, name)
}

// excludedBelow reports whether a path or one of its parents is excluded.
func (f *Directory) excludedBelow(at string) bool {
	for i := range len(at) {
		if at[i] == '/' && f.excluded(at[:i], true) {
			return true
		}
	}
	return f.excluded(at, false)
}

// setDirectories sets the attributes of directories, children first: some modes forbid access to
// the children.
func (l *load) setDirectories() error {
	for i := len(l.directories) - 1; i >= 0; i-- {
		p := l.directories[i]
		d, err := l.f.top.Open(p.path)
		if l.vanished(p.path, err) {
			continue
		}
		if err != nil {
			return explain(p.path, err)
		}
		if l.modeChanged(d, p) {
			l.f.observe.leaveAlone(p.path)
			d.Close()
			continue
		}
		err = l.attributes(p.path, d.SetXattrs(p.xattrs))
		if err == nil {
			err = d.Chmod(p.mode)
		}
		d.Close()
		if err != nil {
			return explain(p.path, err)
		}
	}
	return nil
}

// modeChanged reports whether another program changed the mode of an observed directory since the last commit.
func (l *load) modeChanged(d *beneath.Dir, p pendingDirectory) bool {
	st, err := d.Stat("")
	if l.f.observe == nil || err != nil {
		return false
	}
	if r, ok := l.f.captured(p.path, st); ok && r != nil && r.stat.Mode != p.have {
		return true
	}
	return st.Mode != p.have && st.Mode != p.have|0o700
}
