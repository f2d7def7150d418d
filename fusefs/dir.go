//go:build linux || darwin

package fusefs

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/workspaces"
)

// place returns the newest snapshot of the session at a path in snapshots/ and messages/. It has
// no ID for a directory of sessions. The error is [domarkx.ErrNotFound] if the path is neither.
func (v *view) place(ctx context.Context, p string) (domarkx.Info, error) {
	if p == "" {
		return domarkx.Info{}, nil
	}
	info, err := v.Sessions.Info(ctx, p)
	if err == nil || !errors.Is(err, domarkx.ErrNotFound) && !errors.Is(err, domarkx.ErrInvalid) {
		return info, err
	}
	below, err := v.Sessions.List(ctx, p+"/")
	if err == nil && len(below) == 0 {
		err = domarkx.ErrNotFound
	}
	return domarkx.Info{}, err
}

// directories returns the names of the sessions and directories in a directory, sorted.
func (v *view) directories(ctx context.Context, p string) ([]string, error) {
	below, err := v.Sessions.List(ctx, workspaces.Below(p))
	names := make([]string, len(below))
	for i, info := range below {
		names[i] = info.Name
	}
	return workspaces.Components(p, names), err
}
