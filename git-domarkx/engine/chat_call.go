package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// A PendingCall is a call of a session that has no result.
type PendingCall struct {
	Message  domarkx.ID
	Index    int // of the call among those of the message, from 0
	Resource string
	Tool     string
	// Arguments are those of the call: an object, unless Problem is set.
	Arguments domarkx.Value
	// Problem is why the call cannot be made, whatever the user allows; nil if it can.
	Problem *domarkx.ToolError

	block domarkx.Block
}

// Pending returns the calls without a result in the last message of the assistant, in order.
func (t *Turn) Pending(ctx context.Context) ([]PendingCall, error) {
	_, e, msg, err := t.lastAnswer(ctx)
	if err != nil || e.ID == (domarkx.ID{}) {
		return nil, err
	}
	var pending []PendingCall
	for i, s := range steps(msg, t.canRun) {
		if s.done || s.block.Language != toolCall {
			continue
		}
		p := PendingCall{Message: e.ID, Index: i, block: s.block}
		asked, err := parseCall(s.block.Text)
		p.Resource, p.Tool, p.Arguments = asked.Resource, asked.Tool, asked.Arguments
		if errors.As(err, &p.Problem) {
			v, _ := domarkx.ParseValue([]byte(s.block.Text))
			resource, _ := v.Get("resource")
			tool, _ := v.Get("tool")
			p.Arguments, _ = v.Get("arguments")
			p.Resource, p.Tool = resource.Text(), tool.Text()
		}
		pending = append(pending, p)
	}
	return pending, nil
}

// canRun reports whether the workspace, if it is open, runs code in a language.
func (t *Turn) canRun(language string) bool {
	return t.bench != nil && t.bench.live.CanRun(language)
}

// lastAnswer returns the last message of the assistant with its index, or a zero entry.
func (t *Turn) lastAnswer(ctx context.Context) (int, domarkx.Entry, domarkx.Message, error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.ID == "" {
		return 0, domarkx.Entry{}, domarkx.Message{}, err
	}
	k := tip.Messages
	for e, err := range t.m.MessagesBackward(ctx, tip) {
		if k--; err != nil {
			return 0, e, domarkx.Message{}, err
		}
		if e.Role != domarkx.Assistant {
			continue
		}
		msg, err := loadMessage(ctx, t.m.store, e)
		return k, e, msg, err
	}
	return 0, domarkx.Entry{}, domarkx.Message{}, nil
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

// Make makes a call that the user approved, and records its result as [SessionManager.Run] does.
// If the session was trusted without its pending calls, the trust grows to cover the call. An
// error means that the call was not recorded.
func (t *Turn) Make(ctx context.Context, c PendingCall) (CallReport, error) {
	if err := t.open(ctx); err != nil {
		return CallReport{}, err
	}
	now, err := t.allow(ctx, c)
	if err != nil {
		return CallReport{}, err
	}
	if err := t.bench.admit(ctx, c.block); err != nil {
		return CallReport{}, err
	}
	target := t.target(c)
	target.Completed = t.bench.complete(ctx, c.block)
	report, err := t.bench.perform(ctx, target, func(ctx context.Context) making { return t.bench.make(ctx, target.recorded()) })
	return report, errors.Join(err, t.settled(context.WithoutCancel(ctx), c, now))
}

// Refuse records an outcome of a call that is not made.
func (t *Turn) Refuse(ctx context.Context, c PendingCall, o Outcome) (CallReport, error) {
	b := t.bench
	if b == nil {
		b = &bench{m: t.m}
	}
	_, _, msg, err := t.lastAnswer(ctx)
	if err != nil {
		return CallReport{}, err
	}
	base, err := t.base(ctx, c.Message)
	if err != nil {
		return CallReport{}, err
	}
	was := base.settled.settledMessage(msg)
	report := CallReport{Index: c.Index, Resource: c.Resource, Tool: c.Tool, Outcome: o}
	var at place
	err = t.m.Update(ctx, chatOperation+" "+t.request.Name, func(tx *gitstore.Tx) error {
		at, err = b.recordIn(ctx, tx, t.target(c), o, domarkx.Version{}, nil)
		return err
	})
	if report, err = report.at(at, err); err != nil {
		return report, err
	}
	return report, t.settled(ctx, c, was)
}

func (t *Turn) target(c PendingCall) target {
	return target{operation: chatOperation, journalled: journalled{Session: t.request.Name, Message: c.Message, Index: c.Index,
		Block: c.block, Resource: c.Resource, Tool: c.Tool}}
}

// allow extends the trust in the session, as far as there is any, to a call that is about to be
// made. It returns the digest that then counts.
func (t *Turn) allow(ctx context.Context, c PendingCall) (trustDigest, error) {
	base, err := t.base(ctx, c.Message)
	if err != nil {
		return trustDigest{}, err
	}
	_, e, msg, err := t.lastAnswer(ctx)
	if err != nil {
		return trustDigest{}, err
	}
	s, ok := stepAt(steps(msg, t.canRun), t.target(c).journalled)
	if e.ID != c.Message || !ok || s.done {
		return trustDigest{}, fmt.Errorf("session %q: the call of %s: %w; nothing was run", t.request.Name, c.Tool, domarkx.ErrConflict)
	}
	was, now := base.settled.settledMessage(msg), base.settled.settledMessage(msg, s.at)
	t.gate.approved[now] = t.gate.approved[was]
	return now, t.m.growTrust(ctx, now, t.request.Name, was)
}

// settled caches the digest of the session after a call got its result, and extends the trust in
// now to arguments that the resource added to the call.
func (t *Turn) settled(ctx context.Context, c PendingCall, now trustDigest) error {
	tip, err := t.Tip(ctx)
	if err != nil {
		return err
	}
	_, e, msg, err := t.lastAnswer(ctx)
	if err != nil || e.ID != c.Message {
		return err // computed again when it is needed
	}
	if err := t.follow(ctx, tip); err != nil {
		return err
	}
	base, err := t.base(ctx, c.Message)
	if err != nil {
		return err
	}
	d := base.settled.settledMessage(msg)
	h, err := t.m.header(ctx, tip.ID)
	if err != nil {
		return err
	}
	added, err := t.m.addedTo(ctx, tip.Name, h)
	if err != nil {
		return err
	}
	t.m.rememberDigest(settledOf(tip), knownDigest{d, added.digest()})
	t.m.rememberDigest(tip, knownDigest{base.whole.message(msg), added.digest()})
	t.gate.approved[d] = t.gate.approved[d] || t.gate.approved[now]
	return t.m.growTrust(ctx, d, tip.Name, now)
}

// follow makes the known digests those of a snapshot that this turn has just stored. If the session
// was changed before that by somebody else, it forgets them.
func (t *Turn) follow(ctx context.Context, stored domarkx.Info) error {
	parents, err := t.m.store.Parents(ctx, stored.ID)
	if err != nil {
		return err
	}
	if len(parents) == 0 || parents[0] != t.at {
		clear(t.bases)
	}
	t.at = stored.ID
	return nil
}

// base returns the digests of the session before its last answer.
func (t *Turn) base(ctx context.Context, message domarkx.ID) (bases, error) {
	tip, err := t.Tip(ctx)
	if err != nil {
		return bases{}, err
	}
	if b, ok := t.bases[message]; ok && t.at == tip.ID {
		return b, nil
	}
	h, err := t.m.header(ctx, tip.ID)
	if err != nil {
		return bases{}, err
	}
	added, err := t.m.addedTo(ctx, tip.Name, h)
	if err != nil {
		return bases{}, err
	}
	b, err := t.m.basesBefore(ctx, tip, digestHeader(h, added), message)
	if err == nil {
		t.bases, t.at = map[domarkx.ID]bases{message: b}, tip.ID
	}
	return b, err
}

// A ToolOffer is a tool that a model can be offered.
type ToolOffer struct {
	Resource string
	Type     string // of the resource
	domarkx.Tool
	// ReadOnly reports that the tool is built in and changes nothing, whatever its arguments are.
	ReadOnly bool
}

// Tools returns the tools of the resources of the session's workspace, or none if it has no
// workspace.
func (t *Turn) Tools(ctx context.Context) ([]ToolOffer, error) {
	tip, err := t.Tip(ctx)
	if err != nil {
		return nil, err
	}
	h, err := t.Header(ctx)
	if err != nil {
		return nil, err
	}
	workspace, err := t.m.workspaceOf(ctx, tip.Name)
	if err != nil {
		return nil, err
	}
	version, err := t.m.tipOrNone(ctx, workspace)
	if err != nil {
		return nil, err
	}
	asked, err := t.m.wanted(ctx, tip.Name, workspace, h, version)
	var none *RefusedError
	if errors.As(err, &none) {
		return nil, nil
	}
	if err != nil {
		return nil, inSession(tip.Name, err)
	}
	types, err := t.m.env.Workspaces.Types(ctx)
	if err != nil {
		return nil, err
	}
	var offers []ToolOffer
	for _, spec := range asked.specs {
		for _, kind := range types {
			if kind.Name != spec.Type {
				continue
			}
			tools := kind.Tools
			if len(tools) == 0 { // the resource lists them itself
				if err := t.open(ctx); err != nil {
					return nil, err
				}
				if tools, err = t.bench.toolsOf(ctx, spec.ID); err != nil {
					return nil, err
				}
			}
			for _, tool := range tools {
				offers = append(offers, ToolOffer{spec.ID, spec.Type, tool, slices.Contains(readOnlyTools[spec.Type], tool.Name)})
			}
		}
	}
	return offers, nil
}

// readOnlyTools lists the tools of the built-in types that only read.
var readOnlyTools = map[string][]string{
	"filesystem":     {"read_file", "list_dir", "search"},
	"local_shell":    {"read_file", "list_dir", "search"},
	"docker_sandbox": {"read_file", "list_dir", "search"},
	"git_repository": {"read_file", "list_dir", "search"},
	"sqlite":         {"schema", "query"},
	"postgres":       {"schema", "query"},
}
