package blame

import (
	"context"
	"errors"
	"hash/maphash"
	"path"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/events"
	"github.com/domarkx/domarkx/gitstore"
)

// An event is one in which the content at a path differs from that of its parents.
type event struct {
	events.Event
	blob      string                // content afterwards; "" if there is no file
	before    string                // content in the first parent; "" if there is none
	gap       *domarkx.ExpiredError // if not nil, the files of versions between this one and the first parent with files expired
	elsewhere bool                  // the file is in a resource outside of the work tree, so it may be another file of that name
}

// isPerson reports whether no agent made the changes, in the version or in those before it whose files expired.
func (e *event) isPerson() bool { return e.gap == nil && events.AuthorOf(e.Version) == events.Person }

// A history contains the changes of a path in the versions of all workspaces.
type history struct {
	events []*event         // the earliest first
	byBlob map[string][]int // content → indexes of the events that produced it
	seed   maphash.Seed

	contents map[string]content
	origins  map[int]Origin // index of an event → its origin
}

// history returns the events of a path, which is relative to the top of the work tree.
func (s *survey) history(ctx context.Context, at string) (*history, error) {
	if known, ok := s.histories[at]; ok {
		return known, nil
	}
	h := &history{byBlob: map[string][]int{}, contents: map[string]content{}, origins: map[int]Origin{}, seed: maphash.MakeSeed()}
	f := finder{m: s.m, path: at, blobs: map[string]string{}, at: map[string]found{}}
	for _, list := range [][]int{s.book.any, s.book.named[path.Base(at)]} {
		for _, i := range list {
			if err := f.version(ctx, h, s.book.versions[i]); err != nil {
				return nil, err
			}
		}
	}
	events.Sort(h.events, func(e *event) events.Event { return e.Event })
	for i, e := range h.events {
		if e.blob != "" {
			h.byBlob[e.blob] = append(h.byBlob[e.blob], i)
		}
	}
	s.histories[at] = h
	return h, nil
}

// A finder looks up the content at a path in versions of workspaces.
type finder struct {
	m     *Manager
	path  string
	blobs map[string]string // version of a resource and path in it → id of the content
	at    map[string]found  // version of a workspace → the content in it
}

// found is the content at the path in a version. elsewhere is set if it comes from a resource
// outside of the work tree.
type found struct {
	blob      string
	elsewhere bool
}

// version adds the event of a version, if it is one.
func (f *finder) version(ctx context.Context, h *history, w events.Event) error {
	if w.Version.Expired != nil {
		return nil // the next version with files has its changes, too
	}
	now, err := f.in(ctx, w.Version.ID)
	if err != nil {
		return err
	}
	e := &event{Event: w, blob: now.blob, elsewhere: now.elsewhere}
	same := false
	for i, parent := range w.Version.Parents {
		var was found
		parent, gap, err := f.m.withFiles(ctx, parent)
		if err == nil && parent != "" {
			was, err = f.in(ctx, parent)
		}
		if errors.Is(err, domarkx.ErrNotFound) { // a shallow clone
			continue
		}
		if err != nil {
			return err
		}
		same = same || was.blob == now.blob
		if i == 0 {
			e.before, e.gap = was.blob, gap
		}
	}
	if !same && (now.blob != "" || e.before != "") {
		h.events = append(h.events, e)
	}
	return nil
}

// withFiles returns the version with an id or, if its files expired, the nearest one before it that has files; "" if there is none. gap
// is the first of those without files.
func (m *Manager) withFiles(ctx context.Context, id string) (with string, gap *domarkx.ExpiredError, err error) {
	for {
		v, err := m.store.VersionCommit(id)
		if err != nil || v.Expired == nil {
			return id, gap, err
		}
		if gap == nil {
			gap = &domarkx.ExpiredError{Version: v.ID, Date: v.Date, Expiry: v.Expired}
		}
		if len(v.Parents) == 0 {
			return "", gap, ctx.Err()
		}
		id = v.Parents[0]
	}
}

// in returns the content at the path in the workspace version with that id.
func (f *finder) in(ctx context.Context, id string) (found, error) {
	if known, ok := f.at[id]; ok {
		return known, nil
	}
	v, err := f.m.store.Version(ctx, id)
	if err != nil {
		return found{}, err
	}
	var best found
	for _, r := range v.Resources {
		for _, inside := range pathsIn(r.Config, f.path) {
			key := r.Version + " " + inside
			blob, known := f.blobs[key]
			if !known {
				if blob, err = f.m.store.FindFile(r.Version, inside); err != nil {
					return found{}, err
				}
				f.blobs[key] = blob
			}
			if blob != "" && best.blob == "" {
				_, inPlace := r.Config.Get("path")
				best = found{blob, !inPlace}
			}
		}
	}
	f.at[id] = best
	return best, nil
}

// pathsIn returns the paths at which a resource may have the file with path at in the work tree. A
// resource in the work tree has it at one path. A resource with a directory of its own may have it
// at the same path, or at the path without some of its first directories.
func pathsIn(config jsonvalue.Value, at string) []string {
	if place, ok := config.Get("path"); ok {
		top := path.Clean(place.Text())
		if top == "." {
			return []string{at}
		}
		if inside, ok := strings.CutPrefix(at, top+"/"); ok {
			return []string{inside}
		}
		return nil
	}
	paths := []string{at}
	for rest := at; ; {
		_, after, ok := strings.Cut(rest, "/")
		if !ok {
			return paths
		}
		paths, rest = append(paths, after), after
	}
}

// content returns the content with that id. Content that is larger than MaxSize has no lines.
func (m *Manager) content(ctx context.Context, h *history, id string) (content, error) {
	if c, ok := h.contents[id]; ok || id == "" {
		return c, nil
	}
	data, err := ReadBlob(ctx, m.store, id, MaxSize)
	if err != nil {
		return content{}, err
	}
	h.contents[id] = content{id: id, lines: digests(h.seed, data)}
	return h.contents[id], nil
}

// ReadBlob returns the content with that id, or nil if it is larger than most.
func ReadBlob(ctx context.Context, store *gitstore.Store, id string, most int64) ([]byte, error) {
	content, err := store.Content(ctx, id)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	if content.Size() > most {
		return nil, nil
	}
	data := make([]byte, content.Size())
	if n, err := content.ReadAt(data, 0); n < len(data) {
		return nil, err
	}
	return data, nil
}
