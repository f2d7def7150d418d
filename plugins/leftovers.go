package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Leftovers is a plugin whose resources have something outside of their directories, such as
// a container, that may be left over when the directory is removed.
type Leftovers interface {
	// Leftovers lists what resources that were created below root, a directory of instances, left
	// behind and that no instance there contains any more (see [EachResource]), even
	// if the instance was renamed. It starts nothing, does not wait for services that may
	// be down; others are skipped.
	Leftovers(ctx context.Context, root string) ([]Leftover, error)
	// RemoveLeftover removes a result of Leftovers.
	RemoveLeftover(ctx context.Context, o Leftover) error
}

// A Leftover is something that a removed resource left.
type Leftover struct {
	Type      string // of the resource; set by the manager
	What      string // description for people, such as "container 0123456789ab"
	ID        string // identifies it to the plugin
	Workspace string // former names of workspace and resource, "" if unknown
	Resource  string
	Dir       string // former directory of the resource
}

// Leftovers lists what removed resources left outside of their directories. An error of one
// plugin does not stop the others.
func (m *WorkspaceManager) Leftovers(ctx context.Context) ([]Leftover, error) {
	if _, err := os.Stat(m.config.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // no instance was ever created
	}
	var all []Leftover
	var errs []error
	for _, k := range m.types() {
		p, ok := k.plugin.(Leftovers)
		if !ok {
			continue
		}
		found, err := guard(ctx, m.config.Grace, nil, func(ctx context.Context) ([]Leftover, error) { return p.Leftovers(ctx, m.config.Dir) })
		if err != nil {
			errs = append(errs, fmt.Errorf("searching for leftovers of resources of type %q: %w", k.plugin.Type(), err))
		}
		for _, o := range found {
			o.Type = k.plugin.Type()
			all = append(all, o)
		}
	}
	return all, errors.Join(errs...)
}

// RemoveLeftover removes a result of Leftovers.
func (m *WorkspaceManager) RemoveLeftover(ctx context.Context, o Leftover) error {
	for _, k := range m.types() {
		if p, ok := k.plugin.(Leftovers); ok && k.plugin.Type() == o.Type {
			_, err := guard(ctx, m.config.Grace, nil, nothing(func(ctx context.Context) error { return p.RemoveLeftover(ctx, o) }))
			return err
		}
	}
	return fmt.Errorf("%s of resource type %q: %w", o.What, o.Type, domarkx.ErrNotFound)
}

// EachState calls visit with the content of a file that resources of a type have in their directory,
// for each resource as [EachResource] finds them that has it.
func EachState(ctx context.Context, root, name string, visit func(data []byte) error) error {
	return EachResource(ctx, root, func(dir string) error {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			if err = visit(data); err != nil {
				err = fmt.Errorf("read %q: %w", path, err)
			}
		}
		return err
	})
}

// EachResource calls visit with the directory of each resource of each instance in root,
// including those that are being created or removed. If the set of instances changes
// meanwhile, it starts over, so that none is missed; visit may be called more than once for
// a directory.
func EachResource(ctx context.Context, root string, visit func(dir string) error) error {
	const tries = 100
	for range tries {
		before, err := entries(root)
		if err != nil {
			return err
		}
		for _, instance := range before {
			resources, err := entries(filepath.Join(root, instance))
			if err != nil {
				return err
			}
			for _, r := range resources {
				if err := visit(filepath.Join(root, instance, r)); err != nil {
					return err
				}
			}
		}
		after, err := entries(root)
		if err != nil {
			return err
		}
		if slices.Equal(before, after) {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return fmt.Errorf("listing the instances in %q, which keep changing: %w", root, domarkx.ErrConflict)
}

// entries returns the names of the directories in a directory; none if it does not exist.
func entries(dir string) ([]string, error) {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range list {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}
