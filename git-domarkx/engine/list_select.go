package engine

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
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// ListOptions select and sort the sessions of a list.
type ListOptions struct {
	Patterns []string // globs of session names, as in git for-each-ref; none for all
	Tag      string   // a tag in the front matter; "" for any
	Agent    string   // the agent that the session is from, by the name of its format; "" for any
	Branch   string   // a Git branch on which the session's agent worked; "" for any
	Sort     string   // "name", "updated" (newest first) or "messages" (most first)
	Limit    int      // 0 for all
}

// Select returns the sessions of a list that match the options. The list must be sorted by name. Sessions
// whose header cannot be read are omitted; their errors are joined and returned together with the rest. The
// result is nil only if the options are invalid.
func (m *SessionManager) Select(ctx context.Context, list []domarkx.Info, o ListOptions) ([]domarkx.Info, error) {
	for _, pattern := range o.Patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w: expected a name, or a glob with * ? and [...]", pattern, domarkx.ErrInvalid)
		}
	}
	selected := []domarkx.Info{}
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
	case "updated":
		slices.SortStableFunc(selected, func(a, b domarkx.Info) int { return cmp.Compare(b.Date, a.Date) })
	case "messages":
		slices.SortStableFunc(selected, func(a, b domarkx.Info) int { return cmp.Compare(b.Messages, a.Messages) })
	}
	if o.Limit > 0 && len(selected) > o.Limit {
		selected = selected[:o.Limit]
	}
	return selected, errors.Join(unread...)
}

// matchesName reports whether a glob matches a name or one of its parent directories.
func matchesName(pattern, name string) bool {
	matched, _ := path.Match(pattern, name)
	return matched || strings.HasPrefix(name, strings.TrimSuffix(pattern, "/")+"/")
}

// matchesHeader reports whether the header of a snapshot matches the options. It reads the header
// only if an option needs it.
func (m *SessionManager) matchesHeader(ctx context.Context, info domarkx.Info, o ListOptions) (bool, error) {
	if o.Tag == "" && o.Agent == "" && o.Branch == "" {
		return true, nil
	}
	headers, err := m.store.Header(ctx, info.ID)
	if err != nil {
		return false, err
	}
	h, err := view.LoadHeader(ctx, m.store, headers)
	if err != nil {
		return false, err
	}
	about := jsonvalue.ObjectValue()
	if h.UserMetadata != nil {
		about = *h.UserMetadata
	}
	if o.Tag != "" && !hasTag(about, o.Tag) || o.Branch != "" && !hasBranch(about, o.Branch) {
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
		if origin, err := m.store.Origin(ctx, entry.Origin); err != nil || origin.Format == o.Agent {
			return err == nil, err
		}
	}
	return false, nil
}

// hasTag reports whether "tags" in front matter contains a tag.
func hasTag(about jsonvalue.Value, tag string) bool {
	tags, _ := about.Get("tags")
	if tags.Kind() == jsonvalue.String {
		return slices.Contains(strings.FieldsFunc(tags.Text(), func(r rune) bool { return r == ',' || r == ' ' }), tag)
	}
	return hasItem(tags, tag)
}

// hasBranch reports whether "git_branches" in front matter contains a branch.
func hasBranch(about jsonvalue.Value, branch string) bool {
	branches, _ := about.Get("git_branches")
	return hasItem(branches, branch)
}

func hasItem(list jsonvalue.Value, text string) bool {
	return slices.ContainsFunc(list.Items(), func(v jsonvalue.Value) bool { return v.Kind() == jsonvalue.String && v.Text() == text })
}
