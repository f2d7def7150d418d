package workspaces

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/internal/recent"
)

const maxHistories = 64 // workspaces with a cached history

// A catalog finds versions of workspaces, and caches the histories of workspaces.
type catalog struct {
	Workspaces

	histories recent.Cache[string, *history] // the newest ones, by workspace
}

// A history lists a version and all versions before it, parents before children. It is
// immutable.
type history struct {
	tip  string
	all  []domarkx.Version
	byID map[string]domarkx.Version
}

// tip returns the newest version of a workspace. The version has no ID if the workspace
// does not exist.
func (c *catalog) tip(ctx context.Context, name string) (domarkx.Version, error) {
	if name == "" {
		return domarkx.Version{}, nil
	}
	tip, err := c.WorkspaceTip(ctx, name)
	if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrInvalid) {
		return domarkx.Version{}, nil
	}
	tip.Workspace = name
	return tip, err
}

// components returns the next path component of every workspace name below p.
func (c *catalog) components(ctx context.Context, p string) ([]string, error) {
	all, err := c.Workspaces.Workspaces(ctx)
	names := make([]string, len(all))
	for i, v := range all {
		names[i] = v.Workspace
	}
	return Components(p, names), err
}

// history returns the versions of a workspace up to tip. It reads only those that are newer than a cached history, if they
// form a chain.
func (c *catalog) history(ctx context.Context, name, tip string) (*history, error) {
	known, _ := c.histories.Get(name)
	if known != nil && known.tip == tip {
		return known, nil
	}
	var before, fresh []domarkx.Version
	chain := known != nil
	for v, err := range c.Versions(ctx, tip) {
		if err != nil {
			return nil, err
		}
		if chain && v.ID == known.tip {
			before = known.all
			break
		}
		chain = chain && len(v.Parents) == 1
		fresh = append(fresh, v)
	}
	slices.Reverse(fresh)
	h := &history{tip: tip, all: slices.Concat(before, fresh), byID: map[string]domarkx.Version{}}
	for _, v := range h.all {
		h.byID[v.ID] = v
	}
	c.histories.Put(name, h)
	return h, nil
}

// member returns a version of a workspace, or domarkx.ErrNotFound if the workspace does
// not have it.
func (c *catalog) member(ctx context.Context, name string, tip domarkx.Version, id string) (domarkx.Version, error) {
	if id == tip.ID {
		return tip, nil
	}
	h, err := c.history(ctx, name, tip.ID)
	if err != nil {
		return domarkx.Version{}, err
	}
	v, ok := h.byID[id]
	if !ok {
		return v, fmt.Errorf("workspace %q, version %s: %w", name, id, domarkx.ErrNotFound)
	}
	return v, nil
}

// version is like Version, but returns no error for a version whose files expired.
func (c *catalog) version(ctx context.Context, id string) (domarkx.Version, error) {
	v, err := c.Version(ctx, id)
	if v.Expired != nil {
		return v, nil
	}
	return v, err
}

// Path returns the path below the root that shows a version: in the first of these workspaces that has
// it (preferred, the one that it was created for, the one that has the name of the
// session that made the call), else in any other, else in the directory of all versions.
func (c *catalog) Path(ctx context.Context, id, preferred string) (string, error) {
	v, err := c.version(ctx, id)
	if err != nil {
		return "", err
	}
	tried := map[string]bool{}
	in := func(tip domarkx.Version) (path string, err error) {
		if tip.ID == "" || tried[tip.Workspace] {
			return "", nil
		}
		tried[tip.Workspace] = true
		_, err = c.member(ctx, tip.Workspace, tip, id)
		if errors.Is(err, domarkx.ErrNotFound) {
			return "", nil
		}
		return tip.Workspace + "/" + Name(v), err
	}
	names := []string{preferred, v.Workspace}
	if v.Call != nil {
		names = append(names, v.Call.Session)
	}
	for _, name := range names {
		tip, err := c.tip(ctx, name)
		if err != nil {
			return "", err
		}
		if path, err := in(tip); path != "" || err != nil {
			return path, err
		}
	}
	all, err := c.Workspaces.Workspaces(ctx)
	if err != nil {
		return "", err
	}
	for _, tip := range all {
		if tip.Number < v.Number {
			continue
		}
		if path, err := in(tip); path != "" || err != nil {
			return path, err
		}
	}
	return AllVersions + "/" + Name(v), nil
}
