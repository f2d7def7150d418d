package sessions

import (
	"context"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/fusefs/sessions/basis"
)

// An Attacher attaches images to the sessions that show them.
type Attacher interface {
	// IsImage reports whether data is an image of a type that is attached automatically.
	IsImage(data []byte) bool
	// Shown returns the paths of the images in a snapshot, relative to the session's
	// directory.
	Shown(ctx context.Context, snapshot string) ([]string, error)
	// Attach creates a snapshot of a session with a file attached at path. It returns the
	// session's newest snapshots before and after.
	Attach(ctx context.Context, session, path string, data []byte) (before, after domarkx.Info, err error)
}

// attachSoon schedules attach for the time when the current saves are complete.
func (st *state) attachSoon() {
	if !st.attaches || st.closed {
		return
	}
	if st.attachTimer != nil {
		st.attachTimer.Stop()
	}
	st.attachTimer = st.after(st.timing.Settle, (*Tree).attachPasted)
}

// attachPasted is attach in the background.
func (t *Tree) attachPasted() {
	closed := false
	t.state.Do(func(st *state) {
		if closed = st.closed; !closed {
			t.working.Add(1)
		}
	})
	if closed {
		return
	}
	defer t.working.Done()
	t.attach(t.ctx)
}

// A pasted file is an image with a draft, which a session may show.
type pasted struct {
	path    string
	file    *File
	version *basis.Version
	data    []byte
	sum     string
}

// attach attaches each image that has a draft to the sessions that show it.
func (t *Tree) attach(ctx context.Context) {
	if t.Attacher == nil {
		return
	}
	t.attaching.Lock()
	defer t.attaching.Unlock()
	files := t.pasted()
	if len(files) == 0 {
		return
	}
	infos, err := t.Sessions.List(ctx, "")
	if err != nil {
		t.Logger.Error("listing the sessions to attach images to", "err", err)
	}
	for _, info := range infos {
		files := slices.DeleteFunc(slices.Clone(files), func(p pasted) bool { return !isBelow(p.path, parent(info.Name)) })
		if len(files) == 0 {
			continue
		}
		if err := t.attachTo(ctx, info, files); err != nil {
			t.Logger.Error("attaching images to a session", "session", info.Name, "err", err)
		}
	}
}

func isBelow(p, directory string) bool { return directory == "" || strings.HasPrefix(p, directory+"/") }

// pasted returns the images that have drafts and that no program is writing.
func (t *Tree) pasted() []pasted {
	var found []pasted
	t.state.Do(func(st *state) {
		for p, f := range st.files {
			if f.draft == "" || f.data == nil || f.draftPath != p || f.dirty || f.write > 0 || f.length() > maxImage {
				continue
			}
			data, err := f.data.Bytes()
			if err != nil || !t.Attacher.IsImage(data) {
				continue
			}
			found = append(found, pasted{p, f, f.version, data, drafts.Sum(data)})
		}
	})
	return found
}

// maxImage is the maximum size in bytes of an image that is attached automatically.
const maxImage = 16 << 20

// attachTo attaches to a session those of the images that it shows.
func (t *Tree) attachTo(ctx context.Context, info domarkx.Info, files []pasted) error {
	shown, err := t.showing.Load(ctx, info.ID, func(ctx context.Context) ([]string, error) { return t.Attacher.Shown(ctx, info.ID) })
	if err != nil {
		return err
	}
	for _, p := range files {
		rel := strings.TrimPrefix(p.path, parent(info.Name)+"/")
		if !slices.Contains(shown, rel) {
			continue
		}
		kept, err := t.AttachedTo(ctx, info.ID)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(kept, func(f domarkx.AttachedFile) bool { return f.Path == rel && f.SHA256 == p.sum }) {
			if err := t.attachOne(ctx, &info, rel, p); err != nil {
				return err
			}
		}
		if err := t.attached(p, info); err != nil {
			return err
		}
	}
	return nil
}

// attachOne creates a snapshot of a session with an image attached, and sets info to it.
// The text does not change, so programs that have the session's file open keep it.
func (t *Tree) attachOne(ctx context.Context, info *domarkx.Info, rel string, p pasted) error {
	s := t.session(info.Name)
	t.freeze(s)
	defer t.thaw(s)
	before, after, err := t.Attacher.Attach(ctx, info.Name, rel, p.data)
	if err != nil {
		return err
	}
	t.state.Do(func(st *state) {
		if f := s.file; f != nil && f.id == before.ID && before.Bytes == after.Bytes {
			f.id = after.ID
			if f.version != nil && f.version.ID == before.ID {
				f.version.ID = after.ID
			}
		}
		st.epoch++
	})
	*info = after
	return nil
}

// attached deletes the draft of an image that a session now has attached. The file
// becomes a view of the attached file.
func (t *Tree) attached(p pasted, info domarkx.Info) error {
	t.keeping.Lock()
	defer t.keeping.Unlock()
	key := ""
	t.state.Do(func(st *state) {
		f := p.file
		if f.dirty || f.version != p.version || st.files[p.path] != f {
			return
		}
		if key = f.draft; key == "" {
			return
		}
		f.draft, f.draftPath, f.path = "", "", p.path
		f.kept = &attached{session: info, file: domarkx.AttachedFile{Path: strings.TrimPrefix(p.path, parent(info.Name)+"/"), SHA256: p.sum, Size: f.length()}}
		f.size = f.length()
		f.shed()
	})
	if key == "" {
		return nil
	}
	return t.Journal.Delete(key)
}
