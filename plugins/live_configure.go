package plugins

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/plugins/permit"
)

// Reconfigure changes the resources to those of a permit: it creates new ones and tears
// down others. The versions of those stay, uncommitted changes are lost. It reports whether
// anything changed.
func (l *Live) Reconfigure(ctx context.Context, p permit.Permit) (bool, error) {
	specs := p.What().Resources
	if err := l.allows(p, len(specs) > 0); err != nil {
		return false, err
	}
	if err := l.m.Check(ctx, specs); err != nil {
		return false, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reconfigure(ctx, specs)
}

func (l *Live) reconfigure(ctx context.Context, specs []domarkx.ResourceSpec) (bool, error) {
	changed, err := l.removeOthers(ctx, specs)
	if err != nil {
		return changed, err
	}
	for _, spec := range specs {
		i := l.index(spec.ID)
		before, dirty := spec, true
		switch {
		case i < 0:
			i = l.add(spec)
			changed = true
			if err := l.save(); err != nil {
				return changed, err
			}
		case !l.state.Resources[i].Config.Equal(spec.Config):
			changed = true
			before, dirty = l.state.Resources[i].ResourceSpec, l.state.Resources[i].Dirty
			if err := l.reopen(ctx, i, spec); err != nil {
				return changed, err
			}
		}
		if err := l.open(ctx, i); err != nil {
			return changed, errors.Join(err, l.revertChange(context.WithoutCancel(ctx), i, before, dirty))
		}
	}
	if !l.order(specs) {
		return changed, nil
	}
	return true, l.save()
}

// revertChange reverts a change of the resources that failed, so that the document can ask for
// something else: it removes resources that were never created, and restores the config and
// the dirty flag of the others.
func (l *Live) revertChange(ctx context.Context, i int, before domarkx.ResourceSpec, dirty bool) error {
	if !l.state.Resources[i].Created {
		return l.removeAt(ctx, i)
	}
	l.state.Resources[i].ResourceSpec, l.state.Resources[i].Dirty = before, dirty
	return l.save()
}

// setSpecs sets the resources of an instance whose resources were never created.
func (l *Live) setSpecs(ctx context.Context, specs []domarkx.ResourceSpec) error {
	if len(specs) == 0 {
		return fmt.Errorf("no instance on this machine, and neither a document nor a version lists its resources: %w", domarkx.ErrNotFound)
	}
	if err := l.m.Check(ctx, specs); err != nil {
		return err
	}
	for i := len(l.resources) - 1; i >= 0; i-- {
		if err := l.removeAt(ctx, i); err != nil {
			return err
		}
	}
	for _, spec := range specs {
		l.add(spec)
	}
	return l.save()
}

// removeOthers tears down the resources that are not in specs, or have another type or path
// there.
func (l *Live) removeOthers(ctx context.Context, specs []domarkx.ResourceSpec) (bool, error) {
	changed := false
	for i := len(l.state.Resources) - 1; i >= 0; i-- {
		e := l.state.Resources[i]
		stays := slices.ContainsFunc(specs, func(s domarkx.ResourceSpec) bool {
			return s.ID == e.ID && s.Type == e.Type && l.m.comparablePath(s.Config) == l.m.comparablePath(e.Config)
		})
		if stays {
			continue
		}
		changed = true
		if err := l.removeAt(ctx, i); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// reopen closes a resource and changes its config. The caller opens it again.
func (l *Live) reopen(ctx context.Context, i int, spec domarkx.ResourceSpec) error {
	if l.resources[i].live != nil {
		err := l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error { return live.Close(ctx) })
		if err != nil {
			return fmt.Errorf("stopping resource %q: %w", spec.ID, err)
		}
		l.resources[i].live = nil
	}
	l.state.Resources[i].ResourceSpec = spec
	l.state.Resources[i].Dirty = true
	return l.save()
}

func (l *Live) index(id string) int {
	return slices.IndexFunc(l.state.Resources, func(e entry) bool { return e.ID == id })
}

// order sorts the resources like specs, which contain the same ones, and reports whether the
// order changed.
func (l *Live) order(specs []domarkx.ResourceSpec) bool {
	changed := false
	for to, spec := range specs {
		from := l.index(spec.ID)
		if from == to {
			continue
		}
		changed = true
		l.state.Resources[from], l.state.Resources[to] = l.state.Resources[to], l.state.Resources[from]
		l.resources[from], l.resources[to] = l.resources[to], l.resources[from]
	}
	return changed
}
