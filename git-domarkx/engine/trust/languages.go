package trust

import (
	"context"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
)

// Languages returns a function that reports whether the resources of a session run code in a
// language, according to their plugins.
func (m *Manager) Languages(ctx context.Context, info domarkx.Info) (func(string) bool, error) {
	asked, err := m.Asked(ctx, info)
	if err != nil {
		return nil, err
	}
	types, err := m.env.Workspaces.Types(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, t := range types {
		if slices.ContainsFunc(asked.Specs, func(s domarkx.ResourceSpec) bool { return s.Type == t.Name }) {
			for _, language := range t.Languages {
				known[language] = true
			}
		}
	}
	return func(language string) bool { return known[language] }, nil
}
