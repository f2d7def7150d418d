package overlay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx"
)

// An Attacher lets sessions keep the images that they show.
type Attacher interface {
	// IsImage reports whether a file is one that a session keeps because it shows it.
	IsImage(data []byte) bool
	// Shown returns the files that a snapshot shows as images, relative to the session's folder.
	Shown(ctx context.Context, snapshot string) ([]string, error)
	// Attach makes a snapshot of a session that keeps a file by that path, and returns its
	// newest snapshots before and after.
	Attach(ctx context.Context, session, path string, data []byte) (before, after domarkx.Info, err error)
}

// attachSoon lets images be attached when the saves that they belong to have settled. With the
// lock held.
func (t *Tree) attachSoon() {
	if t.Attacher == nil || t.closed {
		return
	}
	if t.attachTimer != nil {
		t.attachTimer.Stop()
	}
	t.attachTimer = time.AfterFunc(t.Pace.Settle, func() {
		t.mu.Lock()
		if t.closed {
			t.mu.Unlock()
			return
		}
		t.working.Add(1)
		t.mu.Unlock()
		defer t.working.Done()
		t.attach(t.ctx)
	})
}

// A pasted is a file with a draft, that may be an image which a session shows.
type pasted struct {
	path string
	file *File
	ed   *edition
	data []byte
	sum  string
}

// attach lets the sessions that show one of the files beside them as an image keep it.
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
		t.Logger.Error("looking which sessions show a file", "err", err)
	}
	for _, info := range infos {
		files := slices.DeleteFunc(slices.Clone(files), func(p pasted) bool { return !isBelow(p.path, parent(info.Name)) })
		if len(files) == 0 {
			continue
		}
		if err := t.attachTo(ctx, info, files); err != nil {
			t.Logger.Error("attaching to a session", "session", info.Name, "err", err)
		}
	}
}

// isBelow reports whether a path is in a folder or below.
func isBelow(p, folder string) bool { return folder == "" || strings.HasPrefix(p, folder+"/") }

// pasted returns the images among the files with drafts that nobody is writing.
func (t *Tree) pasted() []pasted {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found []pasted
	for p, f := range t.files {
		if f.draft == "" || f.draftPath != p || f.dirty || f.write > 0 || f.length() > maxImage {
			continue
		}
		data, err := f.data.bytes()
		if err != nil || !t.Attacher.IsImage(data) {
			continue
		}
		sum := sha256.Sum256(data)
		found = append(found, pasted{p, f, f.ed, data, hex.EncodeToString(sum[:])})
	}
	return found
}

// maxImage is how large an image is that is attached by itself, in bytes.
const maxImage = 16 << 20

// attachTo lets a session keep those of the files that it shows.
func (t *Tree) attachTo(ctx context.Context, info domarkx.Info, files []pasted) error {
	shown, err := t.shownBy(ctx, info.ID)
	if err != nil {
		return err
	}
	for _, p := range files {
		rel := strings.TrimPrefix(p.path, parent(info.Name)+"/")
		if !slices.Contains(shown, rel) {
			continue
		}
		kept, err := t.attachedTo(ctx, info.ID, 0)
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

// shownBy returns what a snapshot shows, which is remembered for the newest ones.
func (t *Tree) shownBy(ctx context.Context, snapshot string) ([]string, error) {
	if shown, ok := t.showing[snapshot]; ok {
		return shown, nil
	}
	shown, err := t.Attacher.Shown(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	if t.showing == nil || len(t.showing) > maxAttachedLists {
		t.showing = map[string][]string{}
	}
	t.showing[snapshot] = shown
	return shown, nil
}

// attachOne makes a snapshot of a session with a file. The session's text is the same: its file
// stays as it is for who has it open.
func (t *Tree) attachOne(ctx context.Context, info *domarkx.Info, rel string, p pasted) error {
	t.mu.Lock()
	s := t.slot(info.Name)
	t.hold(s)
	t.mu.Unlock()
	before, after, err := t.Attacher.Attach(ctx, info.Name, rel, p.data)
	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.letGo(s)
	if err != nil {
		return err
	}
	if f := s.file; f != nil && f.id == before.ID && before.Bytes == after.Bytes {
		f.id = after.ID
		if f.ed != nil && f.ed.id == before.ID {
			f.ed.id = after.ID
		}
	}
	t.epoch++
	*info = after
	return nil
}

// attached lets a file that a session keeps now be no draft any more.
func (t *Tree) attached(p pasted, info domarkx.Info) error {
	t.keeping.Lock()
	defer t.keeping.Unlock()
	t.mu.Lock()
	f := p.file
	if f.dirty || f.ed != p.ed || t.files[p.path] != f || f.draft == "" {
		t.mu.Unlock()
		return nil
	}
	key := f.draft
	f.draft, f.draftPath, f.path = "", "", p.path
	f.kept = &attached{session: info, file: domarkx.AttachedFile{Path: strings.TrimPrefix(p.path, parent(info.Name)+"/"), SHA256: p.sum, Size: f.length()}}
	f.size = f.length()
	f.shed()
	t.mu.Unlock()
	return t.Journal.Delete(key)
}
