package plugins

import (
	"context"

	"github.com/domarkx/domarkx"
)

// Begin starts a version of a resource that is not open, such as an imported one. base is an
// earlier version, "" for none.
func (m *WorkspaceManager) Begin(ctx context.Context, base string) (Pending, error) {
	return m.versions.Begin(ctx, base)
}

// CheckVersion lets the plugin of a resource validate a version, if it can. See
// [domarkx.VersionChecker].
func (m *WorkspaceManager) CheckVersion(ctx context.Context, r domarkx.ResourceVersion) error {
	for _, k := range m.types() {
		c, ok := k.plugin.(domarkx.VersionChecker)
		if !ok || k.plugin.Type() != r.Type {
			continue
		}
		_, err := guard(ctx, m.config.Grace, nil, nothing(func(ctx context.Context) error { return c.CheckVersion(ctx, m.versions, r.Version) }))
		return err
	}
	return nil
}
