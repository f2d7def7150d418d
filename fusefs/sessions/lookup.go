package sessions

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
)

// An Entry is a name in a directory.
type Entry struct {
	Name string
	Ino  uint64
	Kind uint32 // see [Attr]
}

// Lookup returns the file or the directory with a name, or [domarkx.ErrNotFound].
func (t *Tree) Lookup(ctx context.Context, d *Directory, name string) (*File, *Directory, error) {
	p, err := t.path(d, name)
	if err != nil {
		return nil, nil, err
	}
	var f *File
	if session, ok := SessionOf(p); ok {
		f, _, err := t.shows(ctx, session)
		if f != nil {
			t.state.Do(func(*state) { d.witness = session })
		}
		if f != nil || err != nil {
			return f, nil, err
		}
	}
	attached := false
	t.state.Do(func(st *state) {
		f = st.files[p]
		attached = f != nil && f.kept != nil
	})
	if f != nil && !attached {
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
func (t *Tree) path(d *Directory, name string) (p string, err error) {
	t.state.Do(func(*state) {
		switch p = join(d.path, name); {
		case d.removed:
			err = domarkx.ErrNotFound
		case len(name) > 255:
			err = syscall.ENAMETOOLONG
		}
	})
	return p, err
}

// directory returns the directory at a path, or nil.
func (t *Tree) directory(ctx context.Context, p string) (d *Directory, err error) {
	there, witness := false, ""
	t.state.Do(func(st *state) {
		d = st.directories[p]
		there = d != nil && (d.made || d.path == "")
		if !there && st.holds(p) {
			there, d = true, st.directoryAt(p)
		}
		if d != nil {
			witness = d.witness
		}
	})
	if there {
		return d, nil
	}
	if strings.HasSuffix(p, Extension) || hidden(p) {
		return nil, nil // it cannot contain a session
	}
	if witness != "" {
		f, _, err := t.shows(ctx, witness)
		if err != nil {
			return nil, err
		}
		if f != nil {
			return d, nil
		}
	}
	d = nil
	err = t.withList(ctx, p+"/", func(st *state, infos []domarkx.Info) error {
		for _, info := range infos {
			if st.shown(info.Name, info) != nil {
				d = st.directoryAt(p)
				d.witness = info.Name
				return nil
			}
		}
		return nil
	})
	return d, err
}

// directoryAt returns the directory that has a path, a new one if none has it.
func (st *state) directoryAt(p string) *Directory {
	if d := st.directories[p]; d != nil {
		return d
	}
	return st.newDirectory(p)
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

// directoryNumber returns the inode number of a directory, which may be that of stored sessions alone.
func (st *state) directoryNumber(p string) uint64 {
	if d := st.directories[p]; d != nil {
		return d.Ino
	}
	return st.number(p + "/")
}

// List returns the entries of a directory, sorted by name; none for a removed directory.
func (t *Tree) List(ctx context.Context, d *Directory) ([]Entry, error) {
	p, err := t.path(d, "")
	if err != nil {
		return nil, nil // as POSIX demands of a removed directory
	}
	var entries []Entry
	err = t.withList(ctx, p, func(st *state, infos []domarkx.Info) error {
		entries = st.list(p, infos)
		return nil
	})
	if err != nil {
		return nil, err
	}
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
			e = Entry{Ino: st.directoryNumber(p + name), Kind: syscall.S_IFDIR}
		}
		e.Name = name
		if _, ok := found[name]; !ok || e.Kind == syscall.S_IFDIR {
			found[name] = e
		}
	}
	for _, info := range infos {
		if s := st.sessions[info.Name]; s != nil {
			if f := st.shown(info.Name, info); f != nil {
				add(pathOf(info.Name), Entry{Ino: f.Ino, Kind: syscall.S_IFREG})
			}
			continue
		}
		add(pathOf(info.Name), Entry{Ino: st.storedNumber(info.Name, info.ID), Kind: syscall.S_IFREG})
	}
	for name, s := range st.sessions {
		if s.file != nil && s.file.local() {
			add(pathOf(name), Entry{Ino: s.file.Ino, Kind: syscall.S_IFREG})
		}
	}
	for path, f := range st.files {
		add(path, Entry{Ino: f.Ino, Kind: f.kind()})
	}
	for path, sub := range st.directories {
		if sub.made {
			add(path, Entry{Ino: sub.Ino, Kind: syscall.S_IFDIR})
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
}
