package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/ignored"
)

// An IgnoredError means that a push would send files that the repository ignores.
type IgnoredError struct{ Files []ignored.File }

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
	m      *Manager
	places *ignored.Places
	known  map[string]domarkx.Version // cache of versions
	then   []ignored.File             // files that were ignored when their versions were stored
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
	c := ignoredCheck{m: p.m, places: ignored.New(p.m.store, p.m.store.Git(), p.m.env.WorkTree), known: map[string]domarkx.Version{}}
	for _, id := range versions {
		if err := c.version(ctx, id); err != nil {
			return fmt.Errorf("workspace version %s: %w", id, err)
		}
	}
	found, err := c.places.Ignored(ctx)
	if err != nil {
		return err
	}
	for _, f := range c.then {
		if !slices.ContainsFunc(found, func(g ignored.File) bool { return g.Resource == f.Resource && g.Path == f.Path }) {
			found = append(found, f)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return &IgnoredError{found}
}

func (c *ignoredCheck) read(ctx context.Context, id string) (domarkx.Version, error) {
	v, ok := c.known[id]
	if ok {
		return v, nil
	}
	v, err := c.m.store.VersionOrStub(ctx, id)
	if err == nil {
		c.known[id] = v
	}
	return v, err
}

// version records the files in a version that differ from its first parent, and those of them that were ignored when it was
// stored and that Git does not track now.
func (c *ignoredCheck) version(ctx context.Context, id string) error {
	v, err := c.read(ctx, id)
	if err != nil {
		return err
	}
	var before []domarkx.ResourceVersion
	for parent := v; len(parent.Parents) > 0; { // the nearest that has files
		if parent, err = c.read(ctx, parent.Parents[0]); err != nil && !errors.Is(err, domarkx.ErrNotFound) { // a shallow clone lacks some
			return err
		}
		if before = parent.Resources; parent.Expired == nil {
			break
		}
	}
	for _, path := range v.Ignored {
		f := ignored.File{Version: id}
		f.Resource, f.Path, _ = strings.Cut(path, "/")
		i := slices.IndexFunc(v.Resources, func(r domarkx.ResourceVersion) bool { return r.ID == f.Resource })
		if i < 0 {
			continue
		}
		if tracked, err := c.places.Tracked(ctx, v.Resources[i], f.Path); err != nil {
			return err
		} else if !tracked {
			c.then = append(c.then, f)
		}
	}
	return c.places.Add(ctx, id, before, v.Resources)
}
