package turns

import (
	"cmp"
	"context"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/plugins"
)

// leftFindings returns findings about leftovers of removed resources, such as containers.
func (m *Manager) leftFindings(ctx context.Context) []engine.Finding {
	leftovers, err := m.env.Workspaces.Leftovers(ctx)
	var found []engine.Finding
	for _, o := range leftovers {
		found = append(found, leftOf("warning", "", o, "git domarkx gc removes it"))
	}
	if err != nil {
		found = append(found, engine.Finding{Severity: "warning", What: err.Error(), Where: "workspaces"})
	}
	return found
}

// RemoveLeft removes the leftovers of removed resources, such as containers, and returns findings
// about them.
func (m *Manager) RemoveLeft(ctx context.Context) []engine.Finding {
	leftovers, err := m.env.Workspaces.Leftovers(ctx)
	var found []engine.Finding
	for _, o := range leftovers {
		if err := m.env.Workspaces.RemoveLeftover(ctx, o); err != nil {
			found = append(found, leftOf("warning", ", and cannot be removed: "+err.Error(), o, ""))
			continue
		}
		found = append(found, leftOf("info", " and was removed", o, ""))
	}
	if err != nil {
		found = append(found, engine.Finding{Severity: "warning", What: err.Error(), Where: "workspaces"})
	}
	return found
}

func leftOf(severity, fate string, o plugins.Leftover, fix string) engine.Finding {
	what := o.What + " was left of a resource of type " + o.Type + " that is gone"
	if o.Resource != "" {
		what = o.What + " was left of resource " + o.Resource + " that is gone"
	}
	return engine.Finding{Severity: severity, What: what + fate, Where: cmp.Or(o.Workspace, o.Dir), Fix: fix}
}
