package plugins

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/plugins/beneath"
)

// pathLockDir is locked while an instance compares its paths with those of the others
// and records them.
const pathLockDir = ".claims"

// pathOf is pathIn in the work tree of this process.
func (l *Live) pathOf(config jsonvalue.Value) (string, error) {
	return l.m.pathIn(l.m.config.WorkTree, config, &redactor{})
}

// pathIn returns the path that a config names to work on in place: absolute, with the values of
// ${NAME}, clean and without symbolic links, so that all spellings of a path give the same result.
// By convention this is the config's string "path", relative to top, the top of a work tree. It
// returns "" if the config or top is empty, and an error if a variable is not set. It registers
// the values with secrets.
func (m *WorkspaceManager) pathIn(top string, config jsonvalue.Value, secrets *redactor) (string, error) {
	if !namesPath(top, config) {
		return "", nil
	}
	v, _ := config.Get("path")
	text, err := m.expandString(v.Text(), secrets)
	if err != nil {
		return "", err
	}
	return absolute(top, text), nil
}

// namesPath reports whether a config names a path to work on in place.
func namesPath(top string, config jsonvalue.Value) bool {
	v, ok := config.Get("path")
	return ok && v.Kind() == jsonvalue.String && top != ""
}

// comparablePath is like pathIn, but takes the path literally if a variable is not set. The result
// is only for comparison with others of the same process.
func (m *WorkspaceManager) comparablePath(config jsonvalue.Value) string {
	path, err := m.pathIn(m.config.WorkTree, config, &redactor{})
	if err != nil {
		v, _ := config.Get("path")
		path = absolute(m.config.WorkTree, v.Text())
	}
	return path
}

// shownPath returns the path of a resource for messages: as the document spells it if that has
// ${NAME}, whose value must not be shown.
func shownPath(e *entry) string {
	if v, _ := e.Config.Get("path"); v.Kind() == jsonvalue.String && strings.Contains(v.Text(), "${") {
		return v.Text()
	}
	return e.LockedPath
}

// absolute returns a path relative to top as an absolute path without symbolic links.
func absolute(top, path string) string {
	path = filepath.Clean(filepath.FromSlash(path))
	if !filepath.IsAbs(path) {
		path = filepath.Join(top, path)
	}
	return beneath.Resolve(path)
}

// findOverlap finds the first two resources of a workspace whose paths overlap: each would
// commit the other's changes. It ignores case, since some file systems do.
func (m *WorkspaceManager) findOverlap(specs []domarkx.ResourceSpec) (first, second int, found bool) {
	paths := make([]string, len(specs))
	for i, spec := range specs {
		if paths[i] = strings.ToLower(m.comparablePath(spec.Config)); paths[i] == "" {
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
	if !e.Created || e.Private || e.LockedPath == "" || c.WorkTrees == nil || !exists(e.LockedPath) {
		return c.WorkTree, nil
	}
	path, err := m.pathIn(c.WorkTree, e.Config, &redactor{})
	if err != nil || path == e.LockedPath {
		return c.WorkTree, err
	}
	all, err := c.WorkTrees()
	if err != nil {
		return "", err
	}
	for _, top := range all {
		if path, err := m.pathIn(top, e.Config, &redactor{}); err != nil || path == e.LockedPath {
			return top, err
		}
	}
	return c.WorkTree, nil
}

// lockPath reserves the path of a resource for this instance. When another instance
// holds it, a new resource becomes private instead; for an existing one lockPath returns
// ErrConflict. The values of ${NAME} are redacted in errors and warnings.
func (l *Live) lockPath(e *entry) error {
	secrets := &redactor{}
	return secrets.error(l.lockPathRedacting(e, secrets))
}

func (l *Live) lockPathRedacting(e *entry, secrets *redactor) error {
	if e.Private {
		return nil
	}
	top, err := l.m.workTreeOf(e)
	if err != nil {
		return err
	}
	path, err := l.m.pathIn(top, e.Config, secrets)
	if err != nil || path == "" || e.LockedPath == path {
		return err
	}
	limits, err := l.m.config.Limits()
	if err != nil {
		return err
	}
	for _, f := range limits.Forbidden { // checked before another workspace's lock makes it private
		if beneath.Within(path, beneath.Resolve(f)) {
			return fmt.Errorf("path %q is in %q, which no resource may reach: %w", path, f, domarkx.ErrInvalid)
		}
	}
	for _, other := range l.state.Resources {
		if other.ID != e.ID && !other.Gone && !other.Private && other.LockedPath != "" && overlap(other.LockedPath, path) {
			return fmt.Errorf("path %q: resource %q works on %q, expected a path that is neither that, nor in it, nor around it: %w",
				path, other.ID, shownPath(&other), domarkx.ErrInvalid)
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
				return fmt.Errorf("path %q: workspace %q works on %q: %w", path, other.Name, shownPath(&r), domarkx.ErrConflict)
			}
			l.m.warn(secrets.redact(fmt.Sprintf("workspace %q: resource %q gets a private copy, since workspace %q works on %q", l.state.Name, e.ID, other.Name, shownPath(&r))))
			e.Private = true
			e.Copy = l.state.Loading == nil && !isVacant(path) // otherwise there is nothing to copy, or Load fills it
			return l.save()
		}
	}
	e.LockedPath = path
	return l.save()
}

// overlap reports whether one path is the other or contains it.
func overlap(a, b string) bool { return beneath.Within(a, b) || beneath.Within(b, a) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, os.ErrNotExist)
}
