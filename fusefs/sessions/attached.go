package sessions

import (
	"cmp"
	"context"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Attachments reads the attached files of sessions.
type Attachments interface {
	// Files returns the attached files of a snapshot sorted by path. Paths are relative to the
	// session's directory.
	Files(ctx context.Context, snapshot string) ([]domarkx.AttachedFile, error)
	// Attachment opens an attached file of a snapshot by its SHA-256 in hexadecimal.
	Attachment(ctx context.Context, snapshot, sha256 string) (domarkx.Content, error)
}

// An attached is one attached file of a session.
type attached struct {
	session domarkx.Info // its newest snapshot
	file    domarkx.AttachedFile

	content domarkx.Content // open, or nil
}

func (a *attached) path() string { return join(parent(a.session.Name), a.file.Path) }

// Numbers of snapshots: those whose lists of attached files, or of images, are cached.
const (
	maxAttachedLists = 1 << 18
	maxShown         = 1 << 15
)

// allAttached returns the attached files of all stored sessions at or below a path. If two sessions have attached the same
// path, the newer session comes first.
func (t *Tree) allAttached(ctx context.Context, below string) (all []attached, err error) {
	if t.Attachments == nil || hidden(below) {
		return nil, nil
	}
	infos, err := t.Sessions.List(ctx, "")
	if infos == nil {
		return nil, err
	}
	for _, info := range infos {
		directory := parent(info.Name)
		if !isBelow(below+"/", directory) && !isBelow(directory+"/", below) {
			continue
		}
		files, err := t.AttachedTo(ctx, info.ID)
		if err != nil {
			t.Logger.Error("reading the list of attached files", "session", info.Name, "err", err)
		}
		for _, f := range files {
			a := attached{session: info, file: f}
			if _, isSession := SessionOf(a.path()); !isSession && isBelow(a.path()+"/", below) {
				all = append(all, a)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b attached) int {
		return cmp.Or(cmp.Compare(b.session.Date, a.session.Date), cmp.Compare(a.session.Name, b.session.Name))
	})
	return all, ctx.Err()
}

// AttachedTo returns the attached files of a snapshot, sorted by path.
func (t *Tree) AttachedTo(ctx context.Context, snapshot string) ([]domarkx.AttachedFile, error) {
	if t.Attachments == nil {
		return nil, nil
	}
	return t.attachedBy.Load(ctx, snapshot, func(ctx context.Context) ([]domarkx.AttachedFile, error) {
		return t.Attachments.Files(ctx, snapshot)
	})
}

// attachedAt returns the attached file at a path, or nil, and whether there are attached
// files below the path.
func (t *Tree) attachedAt(ctx context.Context, p string) (found *attached, directory bool, err error) {
	all, err := t.allAttached(ctx, p)
	for _, a := range all {
		switch {
		case a.path() != p:
			directory = true
		case found == nil:
			found = &a
		}
	}
	return found, directory, err
}

// lookupAttached returns the attached file at a path, or the directory if there are
// attached files below it, or nothing. f is the file that the tree has at the path, or
// nil.
func (t *Tree) lookupAttached(ctx context.Context, p string, f *File) (*File, *Directory, error) {
	if _, isSession := SessionOf(p); isSession {
		return f, nil, nil
	}
	a, isDirectory, err := t.attachedAt(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	var sub *Directory
	t.state.Do(func(st *state) {
		f = st.files[p]
		if f != nil && (f.kept == nil || a != nil && f.kept.file.SHA256 == a.file.SHA256) {
			return
		}
		if f != nil { // the session has another file attached now
			st.unbind(p)
			f = nil
		}
		if a != nil {
			f = st.attachedFile(p, *a)
		} else if isDirectory {
			sub = st.directoryAt(p)
		}
	})
	return f, sub, nil
}

// attachedFile returns a view of an attached file. The same content always has the same
// inode number and generation.
func (st *state) attachedFile(p string, a attached) *File {
	h := fnv.New64a()
	h.Write([]byte(a.file.SHA256))
	at := time.Unix(a.session.Date, 0)
	f := &File{path: p, kept: &a, links: 1, Attributes: st.attributes(p, 0o644, at), storage: storage{size: a.file.Size}}
	f.Gen = h.Sum64() | 1<<63
	if st.readOnly {
		f.Mode = 0o444
	}
	return f
}

func (a *attached) readAt(p []byte, off int64) (int, error) {
	n, err := a.content.ReadAt(p, off)
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// drop frees the memory of the content, which is all that it holds.
func (a *attached) drop() {
	if a != nil {
		a.content = nil
	}
}

// listAttached adds the attached files of a directory to its entries.
func (t *Tree) listAttached(ctx context.Context, d *Directory, entries []Entry) ([]Entry, error) {
	prefix := join(d.path, "")
	all, err := t.allAttached(ctx, d.path)
	t.state.Do(func(st *state) {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { // views are added below, if a session still has them
			f := st.files[prefix+e.Name]
			return e.Kind != syscall.S_IFDIR && f != nil && f.kept != nil
		})
		there := map[string]bool{}
		for _, e := range entries {
			there[e.Name] = true
		}
		for _, a := range all {
			rest, ok := strings.CutPrefix(a.path(), prefix)
			name, _, deeper := strings.Cut(rest, "/")
			if !ok || there[name] {
				continue
			}
			there[name] = true
			e := Entry{Name: name, Kind: syscall.S_IFREG}
			if deeper {
				e.Kind, e.Ino = syscall.S_IFDIR, st.directoryNumber(prefix+name)
			} else if f := st.files[prefix+name]; f != nil {
				e.Ino = f.Ino
			} else {
				e.Ino = st.number(prefix + name)
			}
			entries = append(entries, e)
		}
	})
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, err
}

// keepsBelow reports whether a session outside a directory has attached files below it.
func (t *Tree) keepsBelow(ctx context.Context, directory string) (bool, error) {
	all, err := t.allAttached(ctx, directory)
	return slices.ContainsFunc(all, func(a attached) bool { return !isBelow(a.session.Name, directory) }), err
}
