package plugins

import (
	"context"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
)

// lost returns why the state of a resource is lost (see [domarkx.LostStateReporter]), nil if
// it is not.
func (l *Live) lost(i int) (why error, final bool) {
	if loser, ok := l.resources[i].live.(domarkx.LostStateReporter); ok {
		return loser.Lost()
	}
	return nil, false
}

// regain loads the last committed version of a resource whose state is finally lost. If that
// fails, the resource stays lost: calls report it, and another version can be loaded.
func (l *Live) regain(ctx context.Context, i int) error {
	e := &l.state.Resources[i]
	version := l.state.committedVersion(e.ID, e.Type)
	why, final := l.lost(i)
	if !final || version == "" || l.state.Loading != nil {
		return nil
	}
	err := l.use(ctx, i, func(ctx context.Context, live domarkx.Resource) error { return live.Load(ctx, l.m.versions, version) })
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		l.m.warn(fmt.Sprintf("workspace %q: resource %q is lost: %v; and creating it again: %v", l.state.Name, e.ID, why, err))
		return nil
	}
	l.m.warn(fmt.Sprintf("workspace %q: resource %q was lost, and is created again from its last version: %v", l.state.Name, e.ID, why))
	e.Dirty = false
	return l.save()
}
