package turns

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// trustAttached extends the trust in a session to the workspace that the user assigned to it, if
// everything that its calls need is in its trusted document or already live on this machine. was
// are the digests of the session before the assignment.
func (m *Manager) trustAttached(ctx context.Context, session domarkx.Info, workspace string, was trust.Digests) error {
	now, besides, err := m.trust.Digests(ctx, session)
	if err != nil {
		return err
	}
	if besides != (trust.Digest{}) {
		i, err := m.env.Workspaces.Instance(ctx, workspace)
		if errors.Is(err, domarkx.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		live := make([]domarkx.ResourceSpec, len(i.Resources))
		for n, r := range i.Resources {
			live[n] = r.ResourceSpec
		}
		if (&trust.Runs{What: "resources", Text: trust.ConfigsText(live)}).Digest() != besides {
			return nil
		}
	}
	return m.trust.Grow(ctx, now, session.Name, was)
}
