package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
)

// An IgnoredFile is a file in a version that the repository ignores.
type IgnoredFile struct {
	Version  string // the first version with this content
	Resource string
	Path     string // relative to the resource's top directory
}

// An IgnoredError means that a push would send files that the repository ignores.
type IgnoredError struct{ Files []IgnoredFile }

// Error returns the number of files and what to do.
func (e *IgnoredError) Error() string {
	what := "1 file that the repository ignores is"
	if len(e.Files) != 1 {
		what = fmt.Sprintf("%d files that the repository ignores are", len(e.Files))
	}
	return "nothing was sent: " + what + " in workspace versions that the remote does not have; push with --allow-ignored if others may see that, " +
		"else keep it out of new versions with \"exclude\" in the resource's config and go on in a new session, for versions stay in the history"
}

// An ignoredCheck looks for ignored files in the versions that a push would send.
type ignoredCheck struct {
	m       *Manager
	checked map[string]bool                 // place and version of a resource that were checked
	known   map[string]domarkx.Version      // cache of versions
	found   map[bool]map[string]IgnoredFile // whether the place is real → path below the work tree → first occurrence
}

// checkIgnored returns an [*IgnoredError] if the push would send files that the repository
// ignores and that the remote lacks.
func (p *push) checkIgnored(ctx context.Context) error {
	if p.m.env.WorkTree == "" {
		return nil // without a work tree, nothing is ignored
	}
	var tips, known []string
	for _, sent := range []map[string]string{p.send.Sessions, p.send.Workspaces} {
		for _, id := range sent {
			if id != "" {
				tips = append(tips, id)
			}
		}
	}
	for _, there := range []map[string]string{p.tracked.Sessions, p.tracked.Workspaces} {
		known = slices.AppendSeq(known, maps.Values(there))
	}
	versions, err := p.m.store.NewVersions(ctx, tips, known)
	if err != nil {
		return err
	}
	c := ignoredCheck{m: p.m, checked: map[string]bool{}, known: map[string]domarkx.Version{},
		found: map[bool]map[string]IgnoredFile{true: {}, false: {}}}
	for _, id := range versions {
		if err := c.version(ctx, id); err != nil {
			return err
		}
	}
	return c.result(ctx)
}

func (c *ignoredCheck) read(ctx context.Context, id string) (domarkx.Version, error) {
	v, ok := c.known[id]
	if ok {
		return v, nil
	}
	v, err := c.m.store.Version(ctx, id)
	if err == nil {
		c.known[id] = v
	}
	return v, err
}

// version records the files in a version that differ from its first parent.
func (c *ignoredCheck) version(ctx context.Context, id string) error {
	v, err := c.read(ctx, id)
	if err != nil {
		return err
	}
	before := map[string]string{} // place and id of a resource → its version
	if len(v.Parents) > 0 {
		parent, err := c.read(ctx, v.Parents[0])
		if err != nil && !errors.Is(err, domarkx.ErrNotFound) { // a shallow clone lacks some
			return err
		}
		for _, r := range parent.Resources {
			place, _ := c.place(r)
			before[place+"\x00"+r.ID] = r.Version
			c.checked[place+"\x00"+r.Version] = true
		}
	}
	for _, r := range v.Resources {
		place, real := c.place(r)
		if c.checked[place+"\x00"+r.Version] {
			continue
		}
		c.checked[place+"\x00"+r.Version] = true
		err := c.m.store.DiffVersions(ctx, before[place+"\x00"+r.ID], r.Version, func(at string, old, now *domarkx.File) error {
			if now == nil || now.Type == domarkx.Directory || old != nil && old.Type == now.Type && old.ID == now.ID {
				return nil
			}
			name := path.Join(place, at)
			if _, ok := c.found[real][name]; !ok {
				c.found[real][name] = IgnoredFile{Version: id, Resource: r.ID, Path: at}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("workspace version %s: resource %q: %w", id, r.ID, err)
		}
	}
	return nil
}

// place returns the directory of a resource's files relative to the work tree. real is false for
// a private resource, for which the directory is hypothetical.
func (c *ignoredCheck) place(r domarkx.ResourceVersion) (place string, real bool) {
	at, _ := r.Config.Get("path")
	if at.Kind() != domarkx.String || strings.Contains(at.Text(), "${") {
		return "", false
	}
	name := filepath.FromSlash(at.Text())
	if filepath.IsAbs(name) {
		var err error
		if name, err = filepath.Rel(c.m.env.WorkTree, name); err != nil {
			return "", false
		}
	}
	if !filepath.IsLocal(name) {
		return "", false
	}
	if name = filepath.ToSlash(filepath.Clean(name)); name == "." {
		name = ""
	}
	return name, true
}

// result returns an [*IgnoredError] if any of the recorded files are ignored.
func (c *ignoredCheck) result(ctx context.Context) error {
	var bad []IgnoredFile
	for _, real := range []bool{true, false} {
		names := slices.Sorted(maps.Keys(c.found[real]))
		ignored, err := c.m.store.Git().IgnoredNames(ctx, names, real)
		if err != nil {
			return err
		}
		for _, name := range names {
			if ignored[name] {
				bad = append(bad, c.found[real][name])
			}
		}
	}
	if len(bad) == 0 {
		return nil
	}
	return &IgnoredError{bad}
}
