package engine

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// ListOptions select and sort the sessions of a list.
type ListOptions struct {
	Patterns []string // of names, as for git for-each-ref; none for all
	Tag      string   // a tag in the front matter; "" for any
	Sort     string   // "name", "updated" (newest first) or "messages" (most first)
	Limit    int      // 0 for all
}

// Select returns the sessions of a list that match the options. The list must be sorted by name.
func (m *SessionManager) Select(ctx context.Context, list []domarkx.Info, o ListOptions) ([]domarkx.Info, error) {
	for _, pattern := range o.Patterns {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("pattern %q: %w: expected a name, or a glob with * ? and [...]", pattern, domarkx.ErrInvalid)
		}
	}
	var selected []domarkx.Info
	for _, info := range list {
		if len(o.Patterns) > 0 && !slices.ContainsFunc(o.Patterns, func(p string) bool { return matchesName(p, info.Name) }) {
			continue
		}
		if o.Tag != "" {
			tagged, err := m.hasTag(ctx, info, o.Tag)
			if err != nil {
				return nil, err
			}
			if !tagged {
				continue
			}
		}
		selected = append(selected, info)
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
	return selected, nil
}

// matchesName reports whether a glob matches a name or one of its parent directories.
func matchesName(pattern, name string) bool {
	matched, _ := path.Match(pattern, name)
	return matched || strings.HasPrefix(name, strings.TrimSuffix(pattern, "/")+"/")
}

// hasTag reports whether "tags" in the front matter of a snapshot contains a tag.
func (m *SessionManager) hasTag(ctx context.Context, info domarkx.Info, tag string) (bool, error) {
	h, err := view.Header(ctx, m.store, info.ID)
	if err != nil {
		return false, err
	}
	if h.UserMetadata == nil {
		return false, nil
	}
	tags, _ := h.UserMetadata.Get("tags")
	if tags.Kind() == domarkx.String {
		return slices.Contains(strings.FieldsFunc(tags.Text(), func(r rune) bool { return r == ',' || r == ' ' }), tag), nil
	}
	return slices.ContainsFunc(tags.Items(), func(v domarkx.Value) bool { return v.Text() == tag }), nil
}
