package sessions

import (
	"cmp"
	"context"
	"hash/fnv"
	"io"
	"slices"
	"strings"
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

// Numbers of snapshots: those whose lists of attached files, or of images, are cached.
const (
	maxAttachedLists = 1 << 18
	maxShown         = 1 << 15
)

// eachAttached calls fn for the attached files of all stored sessions at or below a path.
// If two sessions have attached the same path, the newer session comes first.
func (t *Tree) eachAttached(ctx context.Context, below string, fn func(p string, a attached)) error {
	if t.Attachments == nil || hidden(below) {
		return nil
	}
	infos, err := t.Sessions.List(ctx, "")
	if infos == nil {
		return err
	}
	var all []domarkx.Info
	for _, info := range infos {
		directory := parent(info.Name)
		if directory == "" || below == "" || strings.HasPrefix(below+"/", directory+"/") || strings.HasPrefix(directory, below+"/") {
			files, err := t.AttachedTo(ctx, info.ID)
			if err != nil {
				t.Logger.Error("reading the list of attached files", "session", info.Name, "err", err)
			}
			if len(files) > 0 {
				all = append(all, info)
			}
		}
	}
	slices.SortFunc(all, func(a, b domarkx.Info) int {
		return cmp.Or(cmp.Compare(b.Date, a.Date), cmp.Compare(a.Name, b.Name))
	})
	for _, info := range all {
		files, err := t.AttachedTo(ctx, info.ID)
		if err != nil {
			return err
		}
		for _, f := range files {
			p := join(parent(info.Name), f.Path)
			if _, isSession := SessionOf(p); !isSession && (below == "" || p == below || strings.HasPrefix(p, below+"/")) {
				fn(p, attached{session: info, file: f})
			}
		}
	}
	return ctx.Err()
}

// AttachedTo returns the attached files of a snapshot, sorted by path.
func (t *Tree) AttachedTo(ctx context.Context, snapshot string) ([]domarkx.AttachedFile, error) {
	if t.Attachments == nil {
		return nil, nil
	}
	return t.attachedBy.Load(snapshot, func() ([]domarkx.AttachedFile, error) { return t.Attachments.Files(ctx, snapshot) })
}

// attachedAt returns the attached file at a path, or nil, and whether there are attached
// files below the path.
func (t *Tree) attachedAt(ctx context.Context, p string) (found *attached, directory bool, err error) {
	err = t.eachAttached(ctx, p, func(at string, a attached) {
		switch {
		case at != p:
			directory = true
		case found == nil:
			found = &a
		}
	})
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
	f := &File{path: p, kept: &a, links: 1, attributes: st.attributes(p, 0o644, at), storage: storage{size: a.file.Size}}
	f.gen = h.Sum64() | 1<<63
	if st.readOnly {
		f.mode = 0o444
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

func (a *attached) close() {
	if a != nil && a.content != nil {
		a.content.Close()
		a.content = nil
	}
}

// listAttached adds the attached files of a directory to its entries.
func (t *Tree) listAttached(ctx context.Context, d *Directory, entries []Entry) ([]Entry, error) {
	prefix := ""
	if d.path != "" {
		prefix = d.path + "/"
	}
	t.state.Do(func(st *state) {
		entries = slices.DeleteFunc(entries, func(e Entry) bool { // views are added below, if a session still has them
			f := st.files[prefix+e.Name]
			return !e.Directory && f != nil && f.kept != nil
		})
	})
	there := map[string]bool{}
	for _, e := range entries {
		there[e.Name] = true
	}
	var found []Entry
	err := t.eachAttached(ctx, d.path, func(p string, _ attached) {
		rest, ok := strings.CutPrefix(p, prefix)
		if !ok {
			return
		}
		name, _, deeper := strings.Cut(rest, "/")
		if there[name] {
			return
		}
		there[name] = true
		found = append(found, Entry{Name: name, Directory: deeper})
	})
	if err != nil || len(found) == 0 {
		return entries, err
	}
	t.state.Do(func(st *state) {
		for i := range found {
			e := &found[i]
			sub, f := st.directories[prefix+e.Name], st.files[prefix+e.Name]
			switch {
			case !e.Directory && f != nil:
				e.Ino = f.ino
			case e.Directory && sub != nil:
				e.Ino = sub.ino
			case e.Directory:
				e.Ino = st.number(prefix + e.Name + "/")
			default:
				e.Ino = st.number(prefix + e.Name)
			}
		}
	})
	entries = append(entries, found...)
	slices.SortFunc(entries, func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) })
	return entries, nil
}

// keepsBelow reports whether a session outside a directory has attached files below it.
func (t *Tree) keepsBelow(ctx context.Context, directory string) (bool, error) {
	keeps := false
	err := t.eachAttached(ctx, directory, func(_ string, a attached) {
		keeps = keeps || !strings.HasPrefix(a.session.Name, directory+"/")
	})
	return keeps, err
}
