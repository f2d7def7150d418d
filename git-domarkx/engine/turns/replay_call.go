package turns

import (
	"context"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
)

// A replayer repeats the calls of a plan.
type replayer struct {
	m      *Manager
	plan   replayPlan
	types  []plugins.Type
	gate   *trust.Gate
	permit permit.Permit  // to open the resources of the session
	bench  *openWorkspace // the temporary instance; nil until it is needed
	at     string         // id of the version in the instance
}

func (r *replayer) call(ctx context.Context, session string, n int) (ReplayResult, error) {
	c := r.plan.calls[n]
	done := ReplayResult{Message: c.message, Index: c.index, Recorded: recordedAs(c.outcome)}
	before, ok := r.plan.before(c)
	var err error
	if !ok {
		if before, err = r.m.foundBy(ctx, r.plan, n, r.at); err != nil {
			return done, err
		}
	}
	if done.NotComparable, err = r.notComparable(ctx, c.block, before); err != nil || done.NotComparable {
		return done, err
	}
	if err := r.open(ctx, session); err != nil {
		return done, err
	}
	if before != r.at {
		v, err := r.m.store.Version(ctx, before)
		if err != nil {
			return done, err
		}
		p, err := r.bench.mayLoad(ctx, v)
		if err != nil {
			return done, err
		}
		if err := r.bench.live.Load(ctx, p, v); err != nil {
			return done, err
		}
		r.at = before
	}
	now, err := r.bench.again(ctx, c.block)
	if err != nil {
		return done, err
	}
	if v, ok := r.plan.versions[c.key()]; ok {
		r.at = v.ID
	}
	done.Replayed = recordedAs(now)
	return done, nil
}

// open creates the temporary instance, unless it exists.
func (r *replayer) open(ctx context.Context, session string) error {
	if r.bench != nil {
		return nil
	}
	p := r.permit.Without(func(s domarkx.ResourceSpec) bool { return r.notReplayed(s.Type) })
	if len(p.What().Resources) == 0 {
		return &engine.RefusedError{Reason: fmt.Sprintf("nothing of %q can be replayed: none of its resources has calls that can be repeated", session)}
	}
	b := &openWorkspace{m: r.m, workspace: p.What().Workspace, gate: r.gate, permit: p}
	first, err := b.mayLoad(ctx, r.plan.start)
	if err != nil {
		return err
	}
	if b.live, err = r.m.env.Workspaces.Open(ctx, first, plugins.Options{Tip: &r.plan.start, Timeout: r.plan.timeout}); err == nil {
		r.bench = b
	}
	return err
}

func (r *replayer) close(ctx context.Context) error {
	if r.bench == nil {
		return nil
	}
	return r.bench.close(ctx)
}

// notComparable reports whether a call is one that is not replayed. before is the version in which
// it was made.
func (r *replayer) notComparable(ctx context.Context, block domarkx.Block, before string) (bool, error) {
	asked, err := toolcall.Parse(block.Text)
	if block.Language != toolcall.Language || err != nil {
		return false, nil
	}
	specs := r.permit.What().Resources
	if !slices.ContainsFunc(specs, func(s domarkx.ResourceSpec) bool { return s.ID == asked.Resource }) {
		v, err := r.m.store.Version(ctx, before)
		if err != nil {
			return false, err
		}
		specs = trust.SpecsOf(v.Resources)
	}
	return slices.ContainsFunc(specs, func(s domarkx.ResourceSpec) bool { return s.ID == asked.Resource && r.notReplayed(s.Type) }), nil
}

// notReplayed reports whether calls of resources of a type are not replayed, such as those of a
// server: no version contains their changes elsewhere.
func (r *replayer) notReplayed(typ string) bool {
	return slices.ContainsFunc(r.types, func(t plugins.Type) bool { return t.Name == typ && t.NotReplayed })
}
