package turns

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/transcript"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
)

// A PendingCall is a call of a session that has no result.
type PendingCall struct {
	journal.Call
	// Arguments are those of the call: an object, unless Problem is set.
	Arguments jsonvalue.Value
	// Problem is why the call cannot be made, whatever the user allows; nil if it can.
	Problem *domarkx.ToolError
}

// Pending returns the calls without a result in the last message of the assistant, in order.
func (t *Turn) Pending(ctx context.Context) ([]PendingCall, error) {
	e, msg, err := t.lastAnswer(ctx)
	if err != nil || e.ID == (domarkx.ID{}) {
		return nil, err
	}
	var pending []PendingCall
	for i, s := range toolcall.Steps(msg, t.bench.canRun) {
		if s.Done || s.Block.Language != toolcall.Language {
			continue
		}
		p := PendingCall{Call: journal.Call{Session: t.request.Name, Message: e.ID, Index: i, Block: s.Block}}
		asked, err := toolcall.Parse(s.Block.Text)
		p.Resource, p.Tool, p.Arguments = asked.Resource, asked.Tool, asked.Arguments
		if errors.As(err, &p.Problem) {
			v, _ := jsonvalue.ParseValue([]byte(s.Block.Text))
			p.Resource, p.Tool, p.Arguments = transcript.Get(v, "resource").Text(), transcript.Get(v, "tool").Text(), transcript.Get(v, "arguments")
		}
		pending = append(pending, p)
	}
	return pending, nil
}

// lastAnswer returns the last message of the assistant, or a zero entry.
func (t *Turn) lastAnswer(ctx context.Context) (none domarkx.Entry, msg domarkx.Message, err error) {
	tip, err := t.Tip(ctx)
	if err != nil {
		return none, msg, err
	}
	for e, err := range t.m.MessagesBackward(ctx, tip) { // of a new session, there are none
		if err == nil && e.Role == domarkx.Assistant {
			msg, err = view.LoadMessage(ctx, t.m.store, e)
			return e, msg, err
		}
		if err != nil {
			return none, msg, err
		}
	}
	return none, msg, nil
}

// Check returns the error with which [Turn.Make] would reject a call: its resource or tool does
// not exist, or its arguments do not fit. It opens the workspace.
func (t *Turn) Check(ctx context.Context, c PendingCall) (*domarkx.ToolError, error) {
	if c.Problem != nil {
		return c.Problem, nil
	}
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	var problem *domarkx.ToolError
	errors.As(t.bench.live.CheckCall(ctx, c.Resource, domarkx.Call{Tool: c.Tool, Arguments: c.Arguments}), &problem)
	return problem, nil
}

// Approve decides whether a call of a tool is made, before the workspace is opened. The errors are those of
// [trust.ModelCall].
func (t *Turn) Approve(ctx context.Context, c PendingCall, tool ToolOffer) (permit.Permit, error) {
	return t.gate.Permit(ctx, trust.ModelCall{Session: t.request.Name, Resource: c.Resource, Tool: c.Tool, ReadOnly: tool.ReadOnly, Listed: tool.Listed})
}

// Make makes a call that [Turn.Approve] permits, and records its result as [Manager.Run] does. An error
// means that the call was not recorded.
func (t *Turn) Make(ctx context.Context, c PendingCall, by permit.Permit) (CallResult, error) {
	if err := t.open(ctx); err != nil {
		return CallResult{}, err
	}
	e, msg, err := t.lastAnswer(ctx)
	if err != nil {
		return CallResult{}, err
	}
	if s, ok := stepAt(toolcall.Steps(msg, t.bench.canRun), c.Call); e.ID != c.Message || !ok || s.Done {
		return CallResult{}, fmt.Errorf("session %q: the call of %s: %w; nothing was run", t.request.Name, c.Tool, domarkx.ErrConflict)
	}
	c.Completed = t.bench.complete(ctx, c.Block)
	return t.bench.perform(ctx, callTarget{Call: c.Call, operation: chatOperation}, by)
}

// Refuse records an outcome of a call that is not made.
func (t *Turn) Refuse(ctx context.Context, c PendingCall, o toolcall.Outcome) (CallResult, error) {
	b := t.bench
	if b == nil {
		b = &openWorkspace{m: t.m, gate: t.gate}
	}
	report := CallResult{Index: c.Index, Resource: c.Resource, Tool: c.Tool, Outcome: o}
	var at position
	err := t.m.sessions.Update(ctx, chatOperation+" "+t.request.Name, func(tx *transaction.Tx) error {
		var err error
		at, err = b.recordIn(ctx, tx, callTarget{Call: c.Call, operation: chatOperation}, o, domarkx.Version{}, nil)
		return err
	})
	return report.at(at, err)
}

// A ToolOffer is a tool that a model can be offered.
type ToolOffer struct {
	Resource string
	Listed   bool // whether the resource lists the tool itself
	domarkx.Tool
}

// Tools returns the tools of the resources of the session's workspace, or none if it has no workspace.
func (t *Turn) Tools(ctx context.Context) ([]ToolOffer, error) {
	tip, err := t.Tip(ctx)
	if err != nil {
		return nil, err
	}
	asked, err := t.m.trust.Asked(ctx, tip)
	if err != nil {
		return nil, err
	}
	types, err := t.m.env.Workspaces.Types(ctx)
	if err != nil {
		return nil, err
	}
	var offers []ToolOffer
	for _, spec := range asked.Specs {
		i := slices.IndexFunc(types, func(t plugins.Type) bool { return t.Name == spec.Type })
		if i < 0 {
			continue
		}
		tools, listed := types[i].Tools, len(types[i].Tools) == 0
		if listed {
			if err := t.open(ctx); err != nil {
				return nil, err
			}
			if tools, err = t.bench.toolsOf(ctx, spec.ID); err != nil {
				return nil, err
			}
		}
		for _, tool := range tools {
			offers = append(offers, ToolOffer{spec.ID, listed, tool})
		}
	}
	return offers, nil
}
