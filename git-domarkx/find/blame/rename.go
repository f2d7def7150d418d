package blame

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
)

// maxCompared is the maximum size in bytes of all removed files whose lines are compared with those of a created one.
const maxCompared = MaxSize

// A former is a file that an event removed.
type former struct {
	path, blob string
	size       int64
}

// renamed follows lines of a file that event e created under its old path, if e renamed it. It returns the
// other lines. As in Git, the file was renamed if one that e removed has at least half of its lines.
func (t *trace) renamed(ctx context.Context, e *event, now content, open []place) ([]place, error) {
	removed, err := t.s.m.removed(ctx, e, t.path)
	if err != nil {
		return nil, err
	}
	bag := bagOf(now.lines)
	var was content
	from, most, left := "", 0, int64(maxCompared)
	for _, f := range removed {
		if left -= f.size; left < 0 || from != "" && was.id == now.id {
			break
		}
		other, err := t.s.m.content(ctx, t.past, f.blob)
		if err != nil {
			return nil, err
		}
		if n := common(bag, other.lines); n > most && 2*n >= max(len(now.lines), len(other.lines)) {
			was, from, most = other, f.path, n
		}
	}
	if from == "" {
		return open, nil
	}
	to := match(was.lines, now.lines)
	older, rest := mapPlaces(open, to)
	there, err := t.named(ctx, from)
	if err != nil {
		return nil, err
	}
	if was, err = t.s.m.content(ctx, there.past, was.id); err != nil { // hashed anew: there has another seed
		return nil, err
	}
	limit, _ := slices.BinarySearchFunc(there.past.events, e.Version.Date+1, func(f *event, date int64) int { return cmp.Compare(f.Version.Date, date) })
	return rest, there.follow(ctx, was, limit, older)
}

// removed returns the files that e removed from the resource in which it created the file at a path, those of
// the same content and name first.
func (m *Manager) removed(ctx context.Context, e *event, at string) ([]former, error) {
	if len(e.Version.Parents) == 0 {
		return nil, nil
	}
	parent, _, err := m.withFiles(ctx, e.Version.Parents[0])
	if parent == "" && err == nil {
		return nil, nil
	}
	var before domarkx.Version
	if err == nil {
		before, err = m.store.Version(ctx, parent)
	}
	if errors.Is(err, domarkx.ErrNotFound) { // a shallow clone
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	after, err := m.store.Version(ctx, e.Version.ID)
	if err != nil {
		return nil, err
	}
	old, now, above, err := m.resource(ctx, before, after, e.blob, at)
	if err != nil || old == "" {
		return nil, err
	}
	var all []former
	err = m.store.DiffVersions(ctx, old, now, func(p string, x, y *domarkx.File) error {
		if x != nil && x.Type == domarkx.Regular && (y == nil || y.Type != domarkx.Regular) {
			all = append(all, former{above + p, x.ID, x.Size})
		}
		return nil
	})
	rank := func(f former) int {
		switch {
		case f.blob == e.blob:
			return 0
		case path.Base(f.path) == path.Base(at):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(all, func(a, b former) int { return rank(a) - rank(b) })
	return all, err
}

// resource returns the versions before and after of the resource that has a content at a path, and what comes before the
// paths in that resource. The versions are "" if there is none.
func (m *Manager) resource(ctx context.Context, before, after domarkx.Version, blob, at string) (old, now, above string, err error) {
	for _, r := range after.Resources {
		i := slices.IndexFunc(before.Resources, func(b domarkx.ResourceVersion) bool { return b.ID == r.ID })
		if i < 0 {
			continue
		}
		for _, inside := range pathsIn(r.Config, at) {
			found, err := m.store.FindFile(r.Version, inside)
			if err != nil {
				return "", "", "", err
			}
			if found == blob {
				return before.Resources[i].Version, r.Version, strings.TrimSuffix(at, inside), nil
			}
		}
	}
	return "", "", "", nil
}
