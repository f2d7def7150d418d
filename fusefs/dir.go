//go:build linux || darwin

package fusefs

import (
	"context"
	"errors"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
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
	if p != "" {
		p += "/"
	}
	below, err := v.Sessions.List(ctx, p)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(below))
	for i, info := range below {
		names[i] = info.Name
	}
	return firstComponents(p, names), nil
}

// firstComponents returns the distinct path components that follow a prefix in sorted
// names.
func firstComponents(prefix string, names []string) []string {
	var found []string
	seen := map[string]bool{}
	for _, name := range names {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		component, _, _ := strings.Cut(rest, "/")
		if !seen[component] {
			seen[component] = true
			found = append(found, component)
		}
	}
	return found
}

func joined(p, name string) string {
	if p == "" {
		return name
	}
	return p + "/" + name
}
