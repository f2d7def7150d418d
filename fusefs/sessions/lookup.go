package sessions

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
)

// An Entry is a name in a directory.
type Entry struct {
	Name      string
	Ino       uint64
	Directory bool
	Symlink   bool
}

// Lookup returns the file or the directory with a name, or [domarkx.ErrNotFound].
func (t *Tree) Lookup(ctx context.Context, d *Directory, name string) (*File, *Directory, error) {
	p, err := t.path(d, name)
	if err != nil {
		return nil, nil, err
	}
	if session, ok := SessionOf(p); ok {
		tips, err := t.lockWithTips(ctx, session)
		if err != nil {
			return nil, nil, err
		}
		f := t.shown(session, tips[0])
		if f != nil {
			d.witness = session
		}
		t.mu.Unlock()
		if f != nil {
			return f, nil, nil
		}
	}
	t.mu.Lock()
	f := t.files[p]
	t.mu.Unlock()
	if f != nil && f.kept == nil {
		return f, nil, nil
	}
	sub, err := t.directory(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	if sub == nil {
		if f, sub, err = t.lookupAttached(ctx, p, f); err == nil && f == nil && sub == nil {
			err = domarkx.ErrNotFound
		}
	}
	return f, sub, err
}

// path returns the path of a name in a directory, or an error if the directory was
// removed.
func (t *Tree) path(d *Directory, name string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if d.removed {
		return "", domarkx.ErrNotFound
	}
	if len(name) > 255 {
		return "", syscall.ENAMETOOLONG
	}
	return join(d.path, name), nil
}

// directory returns the directory at a path, or nil.
func (t *Tree) directory(ctx context.Context, p string) (*Directory, error) {
	t.mu.Lock()
	d := t.directories[p]
	there := d != nil && (d.made || d.path == "")
	if !there && t.holds(p) {
		if there = true; d == nil {
			d = t.newDirectory(p)
		}
	}
	witness := ""
	if d != nil {
		witness = d.witness
	}
	t.mu.Unlock()
	if there {
		return d, nil
	}
	if strings.HasSuffix(p, Extension) || hidden(p) {
		return nil, nil // it cannot contain a session
	}
	if witness != "" {
		tips, err := t.lockWithTips(ctx, witness)
		if err != nil {
			return nil, err
		}
		there = t.shown(witness, tips[0]) != nil
		t.mu.Unlock()
		if there {
			return d, nil
		}
	}
	infos, err := t.lockWithList(ctx, p+"/")
	if err != nil {
		return nil, err
	}
	defer t.mu.Unlock()
	for _, info := range infos {
		if t.shown(info.Name, info) == nil {
			continue
		}
		if d = t.directories[p]; d == nil {
			d = t.newDirectory(p)
		}
		d.witness = info.Name
		return d, nil
	}
	return nil, nil
}

// lockWithList locks t.mu and returns the stored sessions whose names start with a
// prefix. The list is current as long as t.mu is locked. On an error t.mu is not locked.
func (t *Tree) lockWithList(ctx context.Context, prefix string) ([]domarkx.Info, error) {
	for {
		t.mu.Lock()
		epoch := t.epoch
		if hidden(prefix) {
			return nil, nil
		}
		t.mu.Unlock()
		infos, err := t.Sessions.List(ctx, prefix)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		t.mu.Lock()
		if t.epoch == epoch {
			return infos, nil
		}
		t.mu.Unlock()
	}
}

// holds reports whether a directory contains anything that is not stored: scratch files,
// created directories, new sessions.
func (st *state) holds(p string) bool {
	below := p + "/"
	for path := range st.files {
		if strings.HasPrefix(path, below) {
			return true
		}
	}
	for path, d := range st.directories {
		if d.made && strings.HasPrefix(path, below) {
			return true
		}
	}
	for name, s := range st.sessions {
		if s.file != nil && s.file.local() && strings.HasPrefix(name, below) {
			return true
		}
	}
	return false
}

// List returns the entries of a directory, sorted by name; none for a removed directory.
func (t *Tree) List(ctx context.Context, d *Directory) ([]Entry, error) {
	p, err := t.path(d, "")
	if err != nil {
		return nil, nil // as POSIX demands of a removed directory
	}
	infos, err := t.lockWithList(ctx, p)
	if err != nil {
		return nil, err
	}
	entries := t.list(p, infos)
	t.mu.Unlock()
	return t.listAttached(ctx, d, entries)
}

// list returns the entries below the path prefix p. infos are the sessions whose names
// start with p.
func (st *state) list(p string, infos []domarkx.Info) []Entry {
	found := map[string]Entry{}
	// add adds the component below p: a directory if the path continues.
	add := func(path string, e Entry) {
		rest, ok := strings.CutPrefix(path, p)
		if !ok || rest == "" {
			return
		}
		name, _, deeper := strings.Cut(rest, "/")
		if deeper {
			e = Entry{Directory: true}
			if sub := st.directories[p+name]; sub != nil {
				e.Ino = sub.ino
			} else {
				e.Ino = st.number(p + name + "/")
			}
		}
		e.Name = name
		if _, ok := found[name]; !ok || e.Directory {
			found[name] = e
		}
	}
	for _, info := range infos {
		if s := st.sessions[info.Name]; s != nil {
			if f := st.shown(info.Name, info); f != nil {
				add(pathOf(info.Name), Entry{Ino: f.ino})
			}
			continue
		}
		add(pathOf(info.Name), Entry{Ino: st.storedNumber(info.Name, info.ID)})
	}
	for name, s := range st.sessions {
		if s.file != nil && s.file.local() {
			add(pathOf(name), Entry{Ino: s.file.ino})
		}
	}
	for path, f := range st.files {
		add(path, Entry{Ino: f.ino, Symlink: f.link})
	}
	for path, sub := range st.directories {
		if sub.made {
			add(path, Entry{Ino: sub.ino, Directory: true})
		}
	}
	entries := make([]Entry, 0, len(found))
	for _, e := range found {
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries
}
