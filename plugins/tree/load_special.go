package tree

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/domarkx/domarkx"
)

// special makes what is no regular file.
func (l *load) special(ctx context.Context, d *dir, t task, modify func() error) error {
	w := t.want
	target := ""
	if w.Type == domarkx.Symlink {
		var err error
		if target, err = l.target(ctx, w); err != nil {
			return err
		}
	}
	if h := t.have; h != nil {
		same := true
		switch w.Type {
		case domarkx.Symlink:
			now, err := d.readlink(w.Name)
			same = err == nil && now == target
		case domarkx.Fifo, domarkx.CharDevice, domarkx.BlockDevice:
			same = h.stat.mode == w.Mode && h.stat.major == w.Major && h.stat.minor == w.Minor
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
		return d.mkdir(w.Name)
	}
	aside := scratchName()
	var err error
	switch w.Type {
	case domarkx.Symlink:
		err = d.symlink(target, aside)
	case domarkx.Fifo, domarkx.CharDevice, domarkx.BlockDevice:
		if err = d.special(aside, w); err == nil {
			err = d.chmodSpecial(aside, w.Mode)
		}
	default:
		err = fmt.Errorf("%v: %w", w.Type, domarkx.ErrUnsupported)
	}
	if err == nil {
		err = d.rename(aside, w.Name)
	}
	if err != nil {
		d.unlink(aside)
		return err
	}
	st, err := d.stat(w.Name)
	if err != nil {
		return err
	}
	*t.rec = record{name: w.Name, stat: st, target: target}
	l.newest = max(l.newest, st.ctime)
	return nil
}

// maxTarget bounds the target of a symbolic link; kernels take less (PATH_MAX).
const maxTarget = 64 << 10

// target reads where a symbolic link leads.
func (l *load) target(ctx context.Context, f domarkx.File) (string, error) {
	if f.Target != "" {
		return f.Target, nil
	}
	c, err := l.r.Content(ctx, f.ID)
	if err != nil {
		return "", err
	}
	defer c.Close()
	if c.Size() > maxTarget {
		return "", fmt.Errorf("the link's target has %d bytes: %w", c.Size(), domarkx.ErrCorrupt)
	}
	b := make([]byte, c.Size())
	if n, err := c.ReadAt(b, 0); n < len(b) {
		return "", errors.Join(err, io.ErrUnexpectedEOF)
	}
	return string(b), nil
}

// makeLinks makes files other names of those that came first, and notes their stats.
func (l *load) makeLinks(ctx context.Context) error {
	changed := map[string]map[string]record{}
	note := func(path string, d *dir, name string) error {
		st, err := d.stat(name)
		if err != nil {
			return err
		}
		folder, _ := split(path)
		if changed[folder] == nil {
			changed[folder] = map[string]record{}
		}
		changed[folder][name] = record{name: name, stat: st}
		l.newest = max(l.newest, st.ctime)
		return nil
	}
	for _, p := range l.links {
		if err := ctx.Err(); err != nil {
			return err
		}
		for name := range strings.SplitSeq(p.first, "/") {
			if err := checkName(p.path, name); err != nil {
				return err
			}
		}
		if err := l.link(p, note); err != nil {
			return explain(p.path, err)
		}
	}
	for folder, records := range changed {
		l.out.patchStats(folder, records)
	}
	return nil
}

// link makes one file another name of another.
func (l *load) link(p pendingLink, note func(string, *dir, string) error) error {
	firstFolder, first := split(p.first)
	folder, name := split(p.path)
	if l.f.excludedBelow(p.first) {
		return fmt.Errorf("is another name of %q, which is excluded: %w", p.first, domarkx.ErrInvalid)
	}
	from, err := l.f.top.open(firstFolder)
	if err != nil {
		return err
	}
	defer from.close()
	d, err := l.f.top.open(folder)
	if err != nil {
		return err
	}
	defer d.close()
	a, err := from.stat(first)
	if err != nil {
		return err
	}
	if b, err := d.stat(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if err != nil || a.identity != b.identity || a.ino == 0 {
		aside := scratchName()
		if err := d.link(from, first, aside); err != nil {
			return err
		}
		if err := d.rename(aside, name); err != nil {
			d.unlink(aside)
			return err
		}
	}
	if err := note(p.first, from, first); err != nil {
		return err
	}
	return note(p.path, d, name)
}

// excludedBelow reports whether a path or a folder that it lies in is excluded.
func (f *Folder) excludedBelow(at string) bool {
	for i := range len(at) {
		if at[i] == '/' && f.excluded(at[:i], true) {
			return true
		}
	}
	return f.excluded(at, false)
}

// setFolders sets the attributes of folders, the innermost first: some forbid to
// reach what is in them.
func (l *load) setFolders() error {
	for i := len(l.folders) - 1; i >= 0; i-- {
		p := l.folders[i]
		d, err := l.f.top.open(p.path)
		if err != nil {
			return explain(p.path, err)
		}
		err = l.attributes(p.path, d.setXattrs(p.xattrs))
		if err == nil {
			err = d.chmod(p.mode)
		}
		d.close()
		if err != nil {
			return explain(p.path, err)
		}
	}
	return nil
}
