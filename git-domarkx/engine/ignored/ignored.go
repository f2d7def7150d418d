// Package ignored finds the files in versions of workspaces that the repository ignores: Git would not commit them, so
// others may not see them.
//
// The rules may change before a version is pushed. So the commit of a version names the files that were ignored when it was
// stored, which costs one git check-ignore for a version that adds files. What Git tracks at the time of the push is sent.
package ignored

import (
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/gitstore"
)

// A File is a file in a version of a workspace.
type File struct {
	Version  string // the first one with this content; "" for one that is not stored yet
	Resource string
	Path     string // relative to the resource's top directory
}

// Places are files by their paths in the work tree. The places of a private resource are those that its files would
// have there.
type Places struct {
	store         *gitstore.Store
	workTree      string
	real, private map[string]File
	done          map[string]bool // place and version of the resources that were added
}

// New returns an empty list of places in a work tree.
func New(store *gitstore.Store, workTree string) *Places {
	return &Places{store, workTree, map[string]File{}, map[string]File{}, map[string]bool{}}
}

// Add adds the files of a version that the version before it does not have with the same content.
func (p *Places) Add(ctx context.Context, version string, before, now []domarkx.ResourceVersion) error {
	was := map[string]string{} // place and id of a resource → its version
	for _, r := range before {
		place, _ := p.of(r)
		was[place+"\x00"+r.ID], p.done[place+"\x00"+r.Version] = r.Version, true
	}
	for _, r := range now {
		place, real := p.of(r)
		if p.done[place+"\x00"+r.Version] {
			continue
		}
		p.done[place+"\x00"+r.Version] = true
		found := p.private
		if real {
			found = p.real
		}
		err := p.store.DiffVersions(ctx, was[place+"\x00"+r.ID], r.Version, func(at string, old, now *domarkx.File) error {
			if now == nil || now.Type == domarkx.Directory || old != nil && old.Type == now.Type && old.ID == now.ID {
				return nil
			}
			if name := path.Join(place, at); found[name] == (File{}) {
				found[name] = File{version, r.ID, at}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("resource %q: %w", r.ID, err)
		}
	}
	return nil
}

// Ignored returns those of the files that Git ignores now, in the order of their places. What is tracked is not ignored.
func (p *Places) Ignored(ctx context.Context) ([]File, error) {
	var bad []File
	for _, real := range []bool{true, false} {
		files := p.private
		if real {
			files = p.real
		}
		names := slices.Sorted(maps.Keys(files))
		ignored, err := p.store.Git().IgnoredNames(ctx, names, real)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if ignored[name] {
				bad = append(bad, files[name])
			}
		}
	}
	return bad, nil
}

// Tracked reports whether Git tracks a file of a resource, so that others may see it.
func (p *Places) Tracked(ctx context.Context, r domarkx.ResourceVersion, at string) (bool, error) {
	place, real := p.of(r)
	if !real {
		return false, nil
	}
	out, err := p.store.Git().Run(ctx, nil, "-C", p.workTree, "--literal-pathspecs", "ls-files", "--", path.Join(place, at))
	return len(out) > 0, err
}

// of returns the directory of a resource's files relative to the work tree. real is false for
// a private resource, for which the directory is hypothetical.
func (p *Places) of(r domarkx.ResourceVersion) (place string, real bool) {
	at, _ := r.Config.Get("path")
	if at.Kind() != jsonvalue.String || strings.Contains(at.Text(), "${") {
		return "", false
	}
	name := filepath.FromSlash(at.Text())
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.workTree, name)
	}
	name, err := filepath.Rel(resolved(p.workTree), resolved(name))
	if err != nil {
		return "", false
	}
	if !filepath.IsLocal(name) {
		return "", false
	}
	if name = filepath.ToSlash(filepath.Clean(name)); name == "." {
		name = ""
	}
	return name, true
}

// resolved returns a path without symbolic links, for the rules of Git apply to what they lead to; a path that does not
// exist stays as it is.
func resolved(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
