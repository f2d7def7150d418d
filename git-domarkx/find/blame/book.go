package blame

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/events"
)

// A book lists which versions of all workspaces can have changed files of a name. Looking up a path is then
// a matter of a few versions, however many there are.
type book struct {
	versions []events.Event   // each with the workspace in which it was found first, without resources
	named    map[string][]int // last element of a path → indexes of the versions that changed such a file
	any      []int            // indexes of the versions whose changes are not known by name
}

// newBook reads the versions of all workspaces. Comparing them takes longer than looking one path up in each, so it does
// that only for many paths.
func (m *Manager) newBook(ctx context.Context, many bool) (*book, error) {
	b := &book{named: map[string][]int{}}
	tips, err := m.store.Workspaces(ctx)
	if err != nil && tips == nil {
		return nil, err
	}
	seen := map[string]bool{}
	resources := map[string][]domarkx.ResourceVersion{}
	for _, tip := range tips {
		for v, err := range m.store.Versions(ctx, tip.ID) {
			if err != nil {
				return nil, err
			}
			if seen[v.ID] { // a fork shares versions with its origin
				continue
			}
			seen[v.ID] = true
			if v.Expired != nil {
				continue // the next version with files has its changes, too
			}
			i := len(b.versions)
			b.versions = append(b.versions, events.Event{Version: v, Workspace: tip.Workspace})
			if !many {
				b.any = append(b.any, i)
			} else if err := b.add(ctx, m, i, resources); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// add notes what a version changed. It compares it with the first parent that is here: a path that is equal there was not changed.
func (b *book) add(ctx context.Context, m *Manager, i int, resources map[string][]domarkx.ResourceVersion) error {
	v := b.versions[i].Version
	load := func(id string) ([]domarkx.ResourceVersion, error) {
		if known, ok := resources[id]; ok {
			return known, nil
		}
		v, err := m.store.Version(ctx, id)
		if err == nil {
			resources[id] = v.Resources
		}
		return v.Resources, err
	}
	now, err := load(v.ID)
	if err != nil {
		return err
	}
	delete(resources, v.ID) // its children came before it
	for _, parent := range v.Parents {
		parent, _, err := m.withFiles(ctx, parent)
		if err == nil && parent == "" {
			break
		}
		var was []domarkx.ResourceVersion
		if err == nil {
			was, err = load(parent)
		}
		if errors.Is(err, domarkx.ErrNotFound) { // a shallow clone
			continue
		}
		if err != nil {
			return err
		}
		if slices.EqualFunc(was, now, func(a, b domarkx.ResourceVersion) bool { return a.ID == b.ID && a.Config.Equal(b.Config) }) {
			err = b.compare(ctx, m, i, was, now)
			if !errors.Is(err, domarkx.ErrCorrupt) {
				return err
			}
		}
		break
	}
	b.any = append(b.any, i)
	return nil
}

// compare notes the names of the files that differ between the resources of two versions.
func (b *book) compare(ctx context.Context, m *Manager, i int, was, now []domarkx.ResourceVersion) error {
	changed := map[string]bool{}
	for k := range now {
		if was[k].Version == now[k].Version {
			continue
		}
		err := m.store.DiffVersions(ctx, was[k].Version, now[k].Version, func(at string, x, y *domarkx.File) error {
			if x != nil && x.Type == domarkx.Regular || y != nil && y.Type == domarkx.Regular {
				changed[path.Base(at)] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	for name := range changed {
		b.named[name] = append(b.named[name], i)
	}
	return nil
}
