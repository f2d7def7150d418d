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

// claimsFolder is locked while claims are compared and made.
const claimsFolder = ".claims"

// claimOf is the path that a config wants to work on in place, "" for none: by
// convention its string "path", from the top of the work tree.
func (l *Live) claimOf(config domarkx.Value) string { return claimIn(l.m.home.WorkTree, config) }

// claimIn is claimOf from the top of a work tree, "" for none.
func claimIn(top string, config domarkx.Value) string {
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

// resolve follows the symbolic links of a path as far as it is there.
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

// clash returns the first two resources of a workspace of which one would work in what
// the other works on: their versions could not be told apart. Paths that differ by
// case alone are one folder on some machines.
func clash(top string, specs []domarkx.ResourceSpec) (first, second int, found bool) {
	paths := make([]string, len(specs))
	for i, spec := range specs {
		if paths[i] = strings.ToLower(claimIn(top, spec.Config)); paths[i] == "" {
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

// workTreeOf is the work tree that a resource works in: where it was made, although
// this process stands in another one of the repository, as long as it is there.
func (m *WorkspaceManager) workTreeOf(e *entry) (string, error) {
	home := m.home
	if !e.Made || e.Private || e.Claim == "" || e.Claim == claimIn(home.WorkTree, e.Config) || home.WorkTrees == nil || !exists(e.Claim) {
		return home.WorkTree, nil
	}
	all, err := home.WorkTrees()
	if err != nil {
		return "", err
	}
	for _, top := range all {
		if claimIn(top, e.Config) == e.Claim {
			return top, nil
		}
	}
	return home.WorkTree, nil
}

// claim claims the path of a resource for this instance. Where another one has it,
// the resource becomes private.
func (l *Live) claim(e *entry) error {
	top, err := l.m.workTreeOf(e)
	if err != nil {
		return err
	}
	path := claimIn(top, e.Config)
	if path == "" || e.Private || e.Claim == path {
		return nil
	}
	limits, err := l.m.home.Limits()
	if err != nil {
		return err
	}
	for _, f := range limits.Forbidden { // before another workspace's claim makes it private
		if within(path, resolve(f)) {
			return fmt.Errorf("path %q is in %q, which no resource may reach: %w", path, f, domarkx.ErrInvalid)
		}
	}
	for _, other := range l.state.Resources {
		if other.ID != e.ID && !other.Gone && !other.Private && other.Claim != "" && overlap(other.Claim, path) {
			return fmt.Errorf("path %q: resource %q works on %q, expected a path that is neither that, nor in it, nor around it: %w",
				path, other.ID, other.Claim, domarkx.ErrInvalid)
		}
	}
	ctx := context.Background() // claims are held for moments only
	lock, err := lockFolder(ctx, filepath.Join(l.m.home.Dir, claimsFolder), false)
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
			if r.Claim == "" || !overlap(r.Claim, path) {
				continue
			}
			if e.Made {
				return fmt.Errorf("path %q: workspace %q works on %q: %w", path, other.Name, r.Claim, domarkx.ErrConflict)
			}
			l.m.warn(fmt.Sprintf("workspace %q: resource %q gets a private copy, since workspace %q works on %q", l.state.Name, e.ID, other.Name, r.Claim))
			e.Private = true
			e.Copy = l.state.Loading == nil && !isVacant(path) // else there is nothing to copy, or a version is loaded into it
			return l.save()
		}
	}
	e.Claim = path
	return l.save()
}

// overlap reports whether one path is the other or contains it.
func overlap(a, b string) bool { return within(a, b) || within(b, a) }

// within reports whether a path is another one or below it.
func within(path, top string) bool {
	return path == top || strings.HasPrefix(path, strings.TrimSuffix(top, string(filepath.Separator))+string(filepath.Separator))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}
