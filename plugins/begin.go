package plugins

import "context"

// Begin starts a version of a resource that is not open, such as an imported one. base is an
// earlier version, "" for none.
func (m *WorkspaceManager) Begin(ctx context.Context, base string) (Pending, error) {
	return m.versions.Begin(ctx, base)
}
