package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx"
)

// pathLockDir is locked while an instance compares its paths with those of the others
// and records them.
const pathLockDir = ".claims"

// pathOf returns the path that a config names to work on in place, "" for none. By
// convention this is its string "path", relative to the top of the work tree.
func (l *Live) pathOf(config domarkx.Value) string { return pathIn(l.m.config.WorkTree, config) }

// pathIn is like pathOf, relative to top; "" when the config or top is empty.
func pathIn(top string, config domarkx.Value) string {
	v, ok := config.Get("path")
	if !ok || v.Kind() != domarkx.String || top == "" {
		return ""
	}
	path := filepath.Clean(filepath.FromSlash(v.Text()))
	if !filepath.IsAbs(path) {
		path = filepath.Join(top, path)
	}
	return resolve(path)
}

// resolve resolves the symbolic links in the part of a path that exists.
func resolve(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(resolve(dir), filepath.Base(path))
}

// findOverlap finds the first two resources of a workspace whose paths overlap: each would
// commit the other's changes. It ignores case, since some file systems do.
func findOverlap(top string, specs []domarkx.ResourceSpec) (first, second int, found bool) {
	paths := make([]string, len(specs))
	for i, spec := range specs {
		if paths[i] = strings.ToLower(pathIn(top, spec.Config)); paths[i] == "" {
			continue
		}
		for j := range i {
			if paths[j] != "" && overlap(paths[i], paths[j]) {
				return j, i, true
			}
		}
	}
	return 0, 0, false
}

// workTreeOf returns the work tree that a resource works in: the one in which it was
// created, as long as that exists, even when this process runs in another one of the
// repository.
func (m *WorkspaceManager) workTreeOf(e *entry) (string, error) {
	c := m.config
	if !e.Created || e.Private || e.LockedPath == "" || e.LockedPath == pathIn(c.WorkTree, e.Config) || c.WorkTrees == nil || !exists(e.LockedPath) {
		return c.WorkTree, nil
	}
	all, err := c.WorkTrees()
	if err != nil {
		return "", err
	}
	for _, top := range all {
		if pathIn(top, e.Config) == e.LockedPath {
			return top, nil
		}
	}
	return c.WorkTree, nil
}

// lockPath reserves the path of a resource for this instance. When another instance
// holds it, a new resource becomes private instead; for an existing one lockPath returns
// ErrConflict.
func (l *Live) lockPath(e *entry) error {
	top, err := l.m.workTreeOf(e)
	if err != nil {
		return err
	}
	path := pathIn(top, e.Config)
	if path == "" || e.Private || e.LockedPath == path {
		return nil
	}
	limits, err := l.m.config.Limits()
	if err != nil {
		return err
	}
	for _, f := range limits.Forbidden { // checked before another workspace's lock makes it private
		if within(path, resolve(f)) {
			return fmt.Errorf("path %q is in %q, which no resource may reach: %w", path, f, domarkx.ErrInvalid)
		}
	}
	for _, other := range l.state.Resources {
		if other.ID != e.ID && !other.Gone && !other.Private && other.LockedPath != "" && overlap(other.LockedPath, path) {
			return fmt.Errorf("path %q: resource %q works on %q, expected a path that is neither that, nor in it, nor around it: %w",
				path, other.ID, other.LockedPath, domarkx.ErrInvalid)
		}
	}
	ctx := context.Background() // the lock is held for moments only
	lock, err := lockDirectory(ctx, filepath.Join(l.m.config.Dir, pathLockDir), false)
	if err != nil {
		return err
	}
	defer lock.release()
	states, err := l.m.states()
	if err != nil {
		return err
	}
	for dir, other := range states {
		if dir == l.dir {
			continue
		}
		for _, r := range other.Resources {
			if r.LockedPath == "" || !overlap(r.LockedPath, path) {
				continue
			}
			if e.Created {
				return fmt.Errorf("path %q: workspace %q works on %q: %w", path, other.Name, r.LockedPath, domarkx.ErrConflict)
			}
			l.m.warn(fmt.Sprintf("workspace %q: resource %q gets a private copy, since workspace %q works on %q", l.state.Name, e.ID, other.Name, r.LockedPath))
			e.Private = true
			e.Copy = l.state.Loading == nil && !isVacant(path) // otherwise there is nothing to copy, or Load fills it
			return l.save()
		}
	}
	e.LockedPath = path
	return l.save()
}

// overlap reports whether one path is the other or contains it.
func overlap(a, b string) bool { return within(a, b) || within(b, a) }

// within reports whether path is top or below it.
func within(path, top string) bool {
	return path == top || strings.HasPrefix(path, strings.TrimSuffix(top, string(filepath.Separator))+string(filepath.Separator))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}
