package plugins

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/domarkx/domarkx"
)

// An Leftovers is a plugin whose resources have something outside of their folders,
// such as a container, which can be left when the folder is gone.
type Leftovers interface {
	// Leftovers lists what is left of resources that were made in a folder of instances
	// and are in none of them any more (see [EachResource]), whatever they are
	// called by now. It starts nothing, waits for nothing that may be down, and says
	// nothing of what it cannot reach.
	Leftovers(ctx context.Context, root string) ([]Leftover, error)
	// RemoveLeftover removes what Leftovers listed.
	RemoveLeftover(ctx context.Context, o Leftover) error
}

// An Leftover is what is left of a resource.
type Leftover struct {
	Type      string // of the resource; set by the manager
	What      string // for people, such as "container 0123456789ab"
	ID        string // for the plugin
	Workspace string // the names that workspace and resource had, "" where that is not known
	Resource  string
	Dir       string // folder that the resource had
}

// Leftovers lists what is left, outside of the folder of the instances, of resources
// that are gone. One plugin's error does not keep the others from it.
func (m *WorkspaceManager) Leftovers(ctx context.Context) ([]Leftover, error) {
	if _, err := os.Stat(m.config.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // nothing was ever made
	}
	var all []Leftover
	var errs []error
	for _, k := range m.types {
		p, ok := k.plugin.(Leftovers)
		if !ok {
			continue
		}
		found, err := guard(ctx, m.config.Grace, nil, func(ctx context.Context) ([]Leftover, error) { return p.Leftovers(ctx, m.config.Dir) })
		if err != nil {
			errs = append(errs, fmt.Errorf("looking for what is left of resources of type %q: %w", k.plugin.Type(), err))
		}
		for _, o := range found {
			o.Type = k.plugin.Type()
			all = append(all, o)
		}
	}
	return all, errors.Join(errs...)
}

// RemoveLeftover removes what Leftovers listed.
func (m *WorkspaceManager) RemoveLeftover(ctx context.Context, o Leftover) error {
	for _, k := range m.types {
		if p, ok := k.plugin.(Leftovers); ok && k.plugin.Type() == o.Type {
			_, err := guard(ctx, m.config.Grace, nil, nothing(func(ctx context.Context) error { return p.RemoveLeftover(ctx, o) }))
			return err
		}
	}
	return fmt.Errorf("%s of resource type %q: %w", o.What, o.Type, domarkx.ErrNotFound)
}

// EachResource calls visit with the folder of each resource of the instances in a
// folder, those that are being made or removed too. While instances come, go or get
// other names it begins again, for none may be missed: visit is called for a folder
// once or more often.
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
	return fmt.Errorf("reading what instances there are in %q, which change all the time: %w", root, domarkx.ErrConflict)
}

// entries returns the folders in a folder by name; none when it is not there.
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
