package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
	"github.com/domarkx/domarkx/plugins/permit"
)

// An Instance is a workspace that is instantiated on this machine.
type Instance struct {
	Name        string
	Head        string // version that the live state derives from, "" for none
	Private     bool
	Interrupted bool   // whether a load or commit was started and not finished
	Loading     string // id of the version whose load was not finished; "" for none
	Resources   []InstanceResource
}

// An InstanceResource is a resource of an instance.
type InstanceResource struct {
	domarkx.ResourceSpec
	Created bool   // whether the plugin created it
	Private bool   // whether it works on its own files only
	Path    string // directory of the resource on this machine, "" for none
	Version string // its version in Head, "" for none
}

// Instances returns the workspaces that are instantiated on this machine, sorted by name. It
// neither opens them nor waits for locks.
func (m *WorkspaceManager) Instances(ctx context.Context) ([]Instance, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	states, err := m.states()
	if err != nil {
		return nil, err
	}
	var instances []Instance
	for _, dir := range slices.Sorted(maps.Keys(states)) {
		s := states[dir]
		if s.Temporary {
			continue
		}
		i := Instance{Name: s.Name, Head: s.Head, Private: s.Private, Interrupted: s.Loading != nil || s.Given != nil}
		if s.Loading != nil {
			i.Loading = s.Loading.ID
		}
		for _, e := range s.Resources {
			if e.Gone {
				i.Interrupted = true
				continue
			}
			path, err := m.pathOf(&e)
			if err != nil {
				return nil, err
			}
			i.Resources = append(i.Resources, InstanceResource{ResourceSpec: e.ResourceSpec, Created: e.Created,
				Private: e.Private || e.LockedPath == "", Path: path, Version: s.committedVersion(e.ID, e.Type)})
		}
		instances = append(instances, i)
	}
	slices.SortFunc(instances, func(a, b Instance) int { return strings.Compare(a.Name, b.Name) })
	return instances, nil
}

// pathOf returns the directory of a resource as the next Open will find it. In a copied
// repository this differs from the directory in the original.
func (m *WorkspaceManager) pathOf(e *entry) (string, error) {
	if e.Path == "" || e.Path != e.LockedPath || e.Private {
		return e.Path, nil
	}
	if _, err := m.pathIn(m.config.WorkTree, e.Config, &redactor{}); err != nil {
		return e.Path, nil // a variable is not set: it cannot be opened now
	}
	top, err := m.workTreeOf(e)
	if err != nil {
		return "", err
	}
	path, err := m.pathIn(top, e.Config, &redactor{})
	return cmp.Or(path, e.Path), err
}

// Instance returns the instance of a workspace, or domarkx.ErrNotFound.
func (m *WorkspaceManager) Instance(ctx context.Context, name string) (Instance, error) {
	instances, err := m.Instances(ctx)
	if err != nil {
		return Instance{}, err
	}
	i, ok := slices.BinarySearchFunc(instances, name, func(i Instance, name string) int { return strings.Compare(i.Name, name) })
	if !ok {
		return Instance{}, fmt.Errorf("workspace %q: no instance on this machine: %w", name, domarkx.ErrNotFound)
	}
	return instances[i], nil
}

// InUse reports whether another process currently holds the instance of a workspace.
func (m *WorkspaceManager) InUse(ctx context.Context, name string) (bool, error) {
	l, err := m.acquire(ctx, name, permit.Permit{}, Options{NoWait: true})
	switch {
	case errors.Is(err, domarkx.ErrConflict):
		return true, nil
	case errors.Is(err, domarkx.ErrNotFound):
		return false, nil
	case err != nil:
		return false, err
	}
	return false, l.lock.release()
}

// states returns the states of all instances by directory.
func (m *WorkspaceManager) states() (map[string]state, error) {
	directories, err := os.ReadDir(m.config.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	states := map[string]state{}
	for _, f := range directories {
		if strings.HasPrefix(f.Name(), gonePrefix) || f.Name() == pathLockDir {
			continue
		}
		dir := filepath.Join(m.config.Dir, f.Name())
		s, err := readState(dir)
		if errors.Is(err, domarkx.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s.Renaming != "" && directoryName(s.Renaming) == f.Name() {
			s.Name = s.Renaming
		}
		states[dir] = s
	}
	return states, nil
}

// Path returns the directory of a resource; for resource "" that of the first resource that
// has one. It returns domarkx.ErrNotFound if there is none.
func (m *WorkspaceManager) Path(ctx context.Context, name, resource string) (string, error) {
	i, err := m.Instance(ctx, name)
	if err != nil {
		return "", err
	}
	known := false
	for _, r := range i.Resources {
		if resource != "" && r.ID != resource {
			continue
		}
		known = true
		if r.Path != "" {
			return r.Path, nil
		}
	}
	if resource != "" && !known {
		return "", fmt.Errorf("workspace %q has no resource %q: %w", name, resource, domarkx.ErrNotFound)
	}
	return "", fmt.Errorf("workspace %q: no directory of this machine: %w", name, domarkx.ErrNotFound)
}

// Fork creates an instance with the resources and the version of a permit. It returns domarkx.ErrExists
// if the workspace has an instance.
func (m *WorkspaceManager) Fork(ctx context.Context, p permit.Permit, v domarkx.Version) error {
	name := p.What().Workspace
	if _, err := m.Instance(ctx, name); !errors.Is(err, domarkx.ErrNotFound) {
		if err == nil {
			err = fmt.Errorf("workspace %q: %w", name, domarkx.ErrExists)
		}
		return err
	}
	l, err := m.Open(ctx, p, Options{Tip: &v})
	if err != nil {
		return err
	}
	return l.Close(ctx)
}

// Rename renames an instance. No instance may have the new name. It does nothing if the
// instance does not exist.
func (m *WorkspaceManager) Rename(ctx context.Context, from, to string) error {
	return m.RenameWith(ctx, from, to, func() error { return nil })
}

// RenameWith is like Rename, but first calls first, for example to rename the workspace's
// ref. It holds the instance's lock during both. If first fails, RenameWith returns its error
// and the instance keeps its name. No resource is opened.
func (m *WorkspaceManager) RenameWith(ctx context.Context, from, to string, first func() error) error {
	l, err := m.acquire(ctx, from, permit.Permit{}, Options{})
	if errors.Is(err, domarkx.ErrNotFound) {
		return first()
	}
	if err != nil {
		return fmt.Errorf("workspace %q: %w", from, err)
	}
	defer l.lock.release()
	if err := first(); err != nil {
		return err
	}
	target := filepath.Join(m.config.Dir, directoryName(to))
	if target == l.dir {
		return nil
	}
	if _, err := readState(target); !errors.Is(err, domarkx.ErrNotFound) {
		if err == nil {
			err = domarkx.ErrExists
		}
		return fmt.Errorf("workspace %q: %w", to, err)
	}
	m.removeUncreated(target)
	l.state.Renaming = to
	if err := l.save(); err != nil {
		return err
	}
	if err := os.Rename(l.dir, target); err != nil {
		return fmt.Errorf("renaming workspace %q: %w", from, err)
	}
	if err := atomicfile.SyncDir(m.config.Dir); err != nil {
		return err
	}
	if l.state, err = readState(target); err != nil { // with the paths of the resources in the new directory
		return err
	}
	l.dir, l.state.Name, l.state.Renaming = target, to, ""
	return l.save()
}

// TearDown removes an instance with all its resources. Their versions stay. It does nothing
// if the instance does not exist. It needs no permit: it ends what one began.
func (m *WorkspaceManager) TearDown(ctx context.Context, name string) error {
	return m.removeInstance(ctx, name, false)
}

// Discard is like TearDown, but continues with a warning when a plugin cannot remove its
// resource. What that resource has outside of the instance then stays.
func (m *WorkspaceManager) Discard(ctx context.Context, name string) error {
	return m.removeInstance(ctx, name, true)
}

func (m *WorkspaceManager) removeInstance(ctx context.Context, name string, force bool) error {
	l, err := m.acquire(ctx, name, permit.Permit{}, Options{})
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil
	}
	if err == nil {
		l.forced = force
		err = l.tearDown(ctx)
	}
	if err != nil {
		return fmt.Errorf("workspace %q: %w", name, err)
	}
	return nil
}

// tearDown tears down all resources, removes the instance and releases its lock.
func (l *Live) tearDown(ctx context.Context) error {
	defer l.lock.release()
	for i := len(l.resources) - 1; i >= 0; i-- {
		if err := l.removeAt(ctx, i); err != nil {
			return err
		}
	}
	return l.m.remove(l.dir)
}

// remove removes the directory of an instance whose lock the caller holds.
func (m *WorkspaceManager) remove(dir string) error {
	gone := filepath.Join(m.config.Dir, gonePrefix+random())
	if err := os.Rename(dir, gone); err != nil {
		return err
	}
	if err := atomicfile.SyncDir(m.config.Dir); err != nil {
		return err
	}
	return removeAll(gone)
}

// removeUncreated removes the directory of an instance without any created resource, unless
// another process holds it.
func (m *WorkspaceManager) removeUncreated(dir string) {
	lock, err := lockDirectory(context.Background(), dir, true)
	if err != nil {
		return
	}
	defer lock.release()
	if s, err := readState(dir); err == nil && (s.Head != "" || len(s.Resources) > 0) {
		return
	}
	_ = m.remove(dir) // otherwise the next sweep finds it
}

// sweep removes temporary and half-removed instances of killed processes.
func (m *WorkspaceManager) sweep(ctx context.Context) {
	directories, err := os.ReadDir(m.config.Dir)
	if err != nil {
		return
	}
	for _, f := range directories {
		dir := filepath.Join(m.config.Dir, f.Name())
		switch {
		case strings.HasPrefix(f.Name(), gonePrefix):
			_ = removeAll(dir)
		case strings.HasPrefix(f.Name(), temporaryPrefix):
			m.sweepTemporary(ctx, dir)
		}
	}
}

func (m *WorkspaceManager) sweepTemporary(ctx context.Context, dir string) {
	lock, err := lockDirectory(ctx, dir, true)
	if err != nil {
		return // its process is alive
	}
	defer lock.release()
	s, err := readState(dir)
	if errors.Is(err, domarkx.ErrNotFound) {
		_ = m.remove(dir)
	}
	if err != nil {
		return
	}
	if err := m.held(lock, dir, s).tearDown(ctx); err != nil {
		m.warn(fmt.Sprintf("workspace %q: removing what a killed process left: %v", s.Name, err))
	}
}
