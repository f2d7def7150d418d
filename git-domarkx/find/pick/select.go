// Package pick chooses sessions: those of a list that match options, and the one that a part of a name means.
package pick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

// A Picker chooses sessions of a repository.
type Picker struct {
	Sessions *engine.SessionManager
	Store    *gitstore.Store
}

// Options select and sort the sessions of a list.
type Options struct {
	Patterns []string // names, directories of names, or globs; none for all
	Tag      string   // a tag in the front matter; "" for any
	Agent    string   // the agent that the session is from, by the name of its format; "" for any
	Branch   string   // a Git branch on which the session's agent worked; "" for any
	Sort     string   // "name", "activity" or "created" (newest first), or "messages" (most first)
	Limit    int      // 0 for all
}

// Select returns the sessions of a list that match the options. The list must be sorted by name. Sessions
// whose header cannot be read are omitted; their errors are joined and returned together with the rest. The
// result is nil only if the options are invalid.
func (m Picker) Select(ctx context.Context, list []domarkx.Info, o Options) ([]domarkx.Info, error) {
	for _, pattern := range o.Patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w: expected a name, or a glob with * ? and [...]", pattern, domarkx.ErrInvalid)
		}
	}
	selected := make([]domarkx.Info, 0, len(list))
	var unread []error
	for _, info := range list {
		if len(o.Patterns) > 0 && !slices.ContainsFunc(o.Patterns, func(p string) bool { return matchesName(p, info.Name) }) {
			continue
		}
		matches, err := m.matchesHeader(ctx, info, o)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			unread = append(unread, fmt.Errorf("session %q: %w", info.Name, err))
		}
		if matches {
			selected = append(selected, info)
		}
	}
	switch o.Sort {
	case "activity":
		selected = newestFirst(selected)
	case "created":
		selected = sorted(selected, func(i *domarkx.Info) [2]int64 { return [2]int64{i.Described().Started} })
	case "messages":
		selected = sorted(selected, func(i *domarkx.Info) [2]int64 { return [2]int64{int64(i.Messages)} })
	}
	if o.Limit > 0 && len(selected) > o.Limit {
		selected = selected[:o.Limit]
	}
	return selected, errors.Join(unread...)
}

// newestFirst returns sessions in the order of their last activity. Of equal ones, those that began last come first.
func newestFirst(list []domarkx.Info) []domarkx.Info {
	return sorted(list, func(i *domarkx.Info) [2]int64 {
		about := i.Described()
		return [2]int64{about.Active, about.Started}
	})
}

// sorted returns sessions with the greatest keys first, and otherwise in their order. It moves only keys while it sorts, because
// an Info is large.
func sorted(list []domarkx.Info, key func(i *domarkx.Info) [2]int64) []domarkx.Info {
	type place struct {
		key [2]int64
		at  int
	}
	places := make([]place, len(list))
	for n := range list {
		places[n] = place{key(&list[n]), n}
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.key[0], a.key[0]), cmp.Compare(b.key[1], a.key[1]), cmp.Compare(a.at, b.at))
	})
	ordered := make([]domarkx.Info, len(list))
	for n, p := range places {
		ordered[n] = list[p.at]
	}
	return ordered
}

// matchesName reports whether a glob matches a name, or the pattern is the name of a directory above it. * and ? match
// slashes, too.
func matchesName(pattern, name string) bool {
	const slash = "\x01" // which no name has
	matched, _ := path.Match(strings.ReplaceAll(pattern, "/", slash), strings.ReplaceAll(name, "/", slash))
	return matched || strings.HasPrefix(name, strings.TrimSuffix(pattern, "/")+"/")
}

// matchesHeader reports whether the header of a snapshot matches the options. It reads the header
// only if an option needs it.
func (m Picker) matchesHeader(ctx context.Context, info domarkx.Info, o Options) (bool, error) {
	if o.Tag == "" && o.Agent == "" && o.Branch == "" {
		return true, nil
	}
	headers, err := m.Store.Header(ctx, info.ID)
	if err != nil {
		return false, err
	}
	h, err := view.LoadHeader(ctx, m.Store, headers)
	if err != nil {
		return false, err
	}
	about := jsonvalue.ObjectValue()
	if h.UserMetadata != nil {
		about = *h.UserMetadata
	}
	if o.Tag != "" && !slices.Contains(engine.Tags(about), o.Tag) || o.Branch != "" && !hasBranch(about, o.Branch) {
		return false, nil
	}
	if o.Agent == "" {
		return true, nil
	}
	if agent, ok := about.Get("agent"); ok && agent.Kind() == jsonvalue.String {
		return agent.Text() == o.Agent, nil
	}
	for _, entry := range headers { // formats whose front matter does not name the agent
		if entry.Origin == "" {
			continue
		}
		if origin, err := m.Store.Origin(ctx, entry.Origin); err != nil || origin.Format == o.Agent {
			return err == nil, err
		}
	}
	return false, nil
}

// hasBranch reports whether "git_branches" in front matter contains a branch.
func hasBranch(about jsonvalue.Value, branch string) bool {
	branches, _ := about.Get("git_branches")
	return slices.ContainsFunc(branches.Items(), func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.String && v.Text() == branch })
}

// ImportedFrom returns the sessions that were imported from documents of a format. It omits
// sessions that cannot be read.
func (m Picker) ImportedFrom(ctx context.Context, formatName string) ([]domarkx.Info, error) {
	list, err := m.Store.List(ctx)
	if list == nil && err != nil {
		return nil, err
	}
	var from []domarkx.Info
	for _, info := range list {
		headers, err := m.Store.Header(ctx, info.ID)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil || headers[0].Origin == "" {
			continue
		}
		if origin, err := m.Store.Origin(ctx, headers[0].Origin); err == nil && origin.Format == formatName {
			from = append(from, info)
		}
	}
	return from, nil
}
