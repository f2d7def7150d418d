package replay

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
	*Manager
	plan   plan
	types  []plugins.Type
	gate   *trust.Gate
	permit permit.Permit // to open the resources of the session
	within permit.Permit // to open those that are replayed
	live   *plugins.Live // the temporary instance; nil until it is needed
	at     string        // id of the version in the instance
}

func (r *replayer) call(ctx context.Context, session string, n int) (Result, error) {
	c := r.plan.calls[n]
	done := Result{Message: c.number, Index: c.index, Recorded: recordedAs(c.outcome)}
	before, ok := r.plan.before(c)
	var err error
	if !ok {
		if before, err = r.foundBy(ctx, r.plan, n, r.at); err != nil {
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
		v, err := r.store.Version(ctx, before)
		if err != nil {
			return done, err
		}
		p, err := r.gate.Permit(ctx, trust.Load{Into: r.within, To: v})
		if err != nil {
			return done, err
		}
		if err := r.live.Load(ctx, p, v); err != nil {
			return done, err
		}
		r.at = before
	}
	now, err := r.again(ctx, c.block)
	if err != nil {
		return done, err
	}
	if v, ok := r.plan.versions[c.callPlace]; ok {
		r.at = v.ID
	}
	done.Replayed = recordedAs(now)
	return done, nil
}

// open creates the temporary instance, unless it exists.
func (r *replayer) open(ctx context.Context, session string) error {
	if r.live != nil {
		return nil
	}
	r.within = r.permit.Without(func(s domarkx.ResourceSpec) bool { return r.notReplayed(s.Type) })
	if len(r.within.What().Resources) == 0 {
		return &engine.RefusedError{Reason: fmt.Sprintf("nothing of %q can be replayed: none of its resources has calls that can be repeated", session)}
	}
	first, err := r.gate.Permit(ctx, trust.Load{Into: r.within, To: r.plan.start})
	if err == nil {
		r.live, err = r.env.Workspaces.Open(ctx, first, plugins.Options{Tip: &r.plan.start, Timeout: r.plan.timeout})
	}
	return err
}

func (r *replayer) close(ctx context.Context) error {
	if r.live == nil {
		return nil
	}
	return r.live.Close(ctx)
}

// again repeats a call and commits the result without storing a version of the workspace.
func (r *replayer) again(ctx context.Context, block domarkx.Block) (toolcall.Outcome, error) {
	p, err := r.gate.Permit(ctx, trust.Call{By: r.within, In: r.live, Block: block})
	resource, result := p.What().Resource, domarkx.Result{}
	switch {
	case err != nil:
	case p.What().Code != nil:
		resource, result, err = r.live.Run(ctx, p)
	default:
		result, err = r.live.Call(ctx, p)
	}
	if result.Attachment != nil {
		result.Attachment.Close()
	}
	if ctx.Err() != nil {
		return toolcall.Outcome{}, context.Cause(ctx)
	}
	if err != nil {
		return toolcall.Failed(err), nil
	}
	changes, err := r.live.Commit(ctx)
	if err != nil {
		return toolcall.Outcome{}, err
	}
	changes.Abort()
	return toolcall.Outcome{OK: true, Result: result.Value, Version: engine.ResourceVersion(changes.Resources, resource)}, nil
}

// notComparable reports whether a call is one that is not replayed. before is the version in which it was made.
func (r *replayer) notComparable(ctx context.Context, block domarkx.Block, before string) (bool, error) {
	asked, err := toolcall.Parse(block.Text)
	if block.Language != toolcall.Language || err != nil {
		return false, nil
	}
	specs := r.permit.What().Resources
	if !slices.ContainsFunc(specs, func(s domarkx.ResourceSpec) bool { return s.ID == asked.Resource }) {
		v, err := r.store.Version(ctx, before)
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
