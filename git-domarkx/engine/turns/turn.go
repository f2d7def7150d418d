package turns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/permit"
)

// A CallResult is the result of one call.
type CallResult struct {
	Message  int // index in the session, from 0
	Index    int // index of the call among those of the message, from 0
	Resource string
	Tool     string // the language, for a code block
	toolcall.Outcome
	// WorkspaceVersion is the version of the workspace after the call.
	WorkspaceVersion string
}

// at adds the location of a recorded call to its report. If err is nil, it returns p.untrusted.
func (r CallResult) at(p position, err error) (CallResult, error) {
	r.Message, r.Index = p.message, p.index
	if err == nil {
		err = p.untrusted
	}
	return r, err
}

// A callTarget is a call to make, and describes where to record its outcome.
type callTarget struct {
	journal.Call
	operation string
	prune     bool // remove the results of later calls, which ran on an outdated state
}

// A position is the place at which an outcome was recorded.
type position struct {
	message   int             // index in the session
	index     int             // index of the call among those of the message
	untrusted error           // reason why the trust was not extended to a message created for the call
	written   domarkx.Message // with the outcome, if the message with the call existed
}

// perform makes and records a call. It writes a journal entry before the call starts and commits earlier changes as a
// separate version. Then it stores the outcome, the new version and the link in one update. by permits the content with the
// call, or the call itself. An error means that the call was not recorded; a failure of the call itself is in the report.
func (b *openWorkspace) perform(ctx context.Context, t callTarget, by permit.Permit) (CallResult, error) {
	p, failed := b.gate.Permit(ctx, trust.Call{By: by, In: b.live, Block: t.Recorded()})
	if _, ok := errors.AsType[*trust.UntrustedError](failed); ok {
		return CallResult{}, failed
	}
	t.Workspace, t.Process = b.workspace, os.Getpid()
	before := func(ctx context.Context) (*plugins.Changes, error) { return b.live.CommitBeforeCall(ctx, t.timeout()) }
	if err := b.commitAs(ctx, before, "change", changeSubject, false); err != nil && ctx.Err() != nil {
		return CallResult{}, err
	} // on other errors, continue: the call may remove the file that cannot be stored, or its record reports it
	calls := journal.In(b.m.env.StateDir)
	if err := calls.Begin(t.Call); err != nil {
		return CallResult{}, err
	}
	var result domarkx.Result
	switch {
	case failed != nil: // nothing permits it
	case t.Block.Language == toolcall.Language:
		result, failed = b.live.Call(ctx, p)
	default:
		t.Resource, result, failed = b.live.Run(ctx, p)
	}
	ended := context.Cause(ctx)
	outcome := toolcall.Outcome{OK: true, Result: result.Value}
	switch {
	case failed != nil && ended != nil:
		outcome = toolcall.Interrupted(t.Session)
	case failed != nil:
		outcome = toolcall.Failed(failed)
	}
	report, err := b.record(ctx, t, outcome, result.Attachment)
	ended = context.Cause(ctx)
	if err != nil {
		return report, errors.Join(err, ended)
	}
	return report, errors.Join(calls.End(t.Call), ended)
}

// timeout returns the timeout among the arguments of a call, 0 for none.
func (t callTarget) timeout() time.Duration {
	if t.Block.Language != toolcall.Language {
		return 0
	}
	request, err := toolcall.Parse(t.Block.Text)
	if err != nil {
		return 0
	}
	own, _ := plugins.OwnTimeout(request.Arguments)
	return own
}

// record stores the outcome of a call and the resulting version. The outcome is stored even if the user
// ends the program, which ends the reading of the files.
func (b *openWorkspace) record(ctx context.Context, t callTarget, outcome toolcall.Outcome, attachment io.ReadCloser) (CallResult, error) {
	report := CallResult{Index: t.Index, Resource: t.Resource, Tool: t.Tool}
	var output *local.Temporary
	if attachment != nil {
		var err error
		if output, err = b.m.spool(attachment); err != nil {
			return report, fmt.Errorf("keeping the output of a call: %w", err)
		}
		defer output.Close()
	}
	var at position
	changes, err := b.live.CommitCall(ctx)
	ctx = context.WithoutCancel(ctx)
	if err != nil {
		if outcome.OK {
			outcome = toolcall.Outcome{Code: domarkx.CodeFailed, Message: fmt.Sprintf("the call was made, but what it left cannot be kept: %v", err)}
		} else { // keep the original failure or interruption first
			outcome.Message = fmt.Sprintf("%s; and what it left cannot be kept: %v", outcome.Message, err)
		}
		report.Outcome = outcome
		stored := b.m.sessions.Update(ctx, t.operation+" "+t.Session, func(tx *transaction.Tx) error {
			at, err = b.recordIn(ctx, tx, t, outcome, domarkx.Version{}, nil)
			return err
		})
		return report.at(at, stored)
	}
	if outcome.OK {
		outcome.Version = engine.ResourceVersion(changes.Resources, t.Resource)
	}
	outcome.LeftOut = changes.LeftOut
	call := &domarkx.CallRecord{Session: t.Session, Message: t.Message, Index: t.Index, Resource: t.Resource}
	what := strings.TrimSpace(t.Block.Language + " " + t.Block.Name)
	if t.Block.Language == toolcall.Language {
		call.Tool, what = t.Tool, t.Tool
	}
	request := versionRequest{operation: "call", subject: fmt.Sprintf("call %s of %s", what, t.Session), call: call, changed: changes.Changed || b.leavesOut(changes)}
	err = b.commit(ctx, changes, request,
		func(tx *transaction.Tx, v domarkx.Version) error {
			o := outcome
			var attachments []domarkx.Attachment
			if output != nil {
				a, err := attach(ctx, tx, t.Session, output)
				if err != nil {
					return err
				}
				attachments = append(attachments, a)
				o.Result = o.Result.With("attachment", jsonvalue.StringValue(a.SHA256))
			}
			report.WorkspaceVersion, report.Outcome = v.ID, o
			at, err = b.recordIn(ctx, tx, t, o, v, attachments)
			return err
		})
	return report.at(at, err)
}

// attach stores the output of a call.
func attach(ctx context.Context, tx *transaction.Tx, session string, output *local.Temporary) (domarkx.Attachment, error) {
	f, err := tx.Filter(ctx, session)
	if err == nil {
		_, err = output.Seek(0, io.SeekStart)
	}
	if err != nil {
		return domarkx.Attachment{}, err
	}
	a, _, err := tx.StoreAttachment(ctx, f, output.File)
	return a, err
}

// recordInterrupted records the calls in this workspace whose process was killed.
func (b *openWorkspace) recordInterrupted(ctx context.Context) error {
	calls := journal.In(b.m.env.StateDir)
	begun, err := calls.Of(b.workspace)
	if err != nil {
		return err
	}
	for _, c := range begun {
		recorded, err := b.isRecorded(ctx, c)
		if err != nil {
			return err
		}
		if !recorded {
			t := callTarget{Call: c, operation: "run"}
			if _, err := b.record(ctx, t, toolcall.Interrupted(c.Session), nil); err != nil {
				return err
			}
		}
		if err := calls.End(c); err != nil {
			return err
		}
	}
	return nil
}

// isRecorded reports whether the outcome of a call is in its session, or the session was removed.
func (b *openWorkspace) isRecorded(ctx context.Context, c journal.Call) (bool, error) {
	tip, err := b.m.store.TipOrNone(ctx, c.Session)
	if err != nil || tip.ID == "" {
		return err == nil, err
	}
	state, err := b.m.store.Load(ctx, tip.ID)
	if err != nil {
		return false, err
	}
	own := ownMessage(c)
	for _, e := range state.Thread.Live {
		if e.ID == own || c.Appends && e.ID == c.Message {
			return true, nil
		}
		if e.ID != c.Message {
			continue
		}
		msg, err := view.LoadMessage(ctx, b.m.store, e)
		if err != nil {
			return false, err
		}
		if s, ok := stepAt(toolcall.Steps(msg, b.live.CanRun), c); ok && s.Done && s.Result != c.Before {
			return true, nil
		}
	}
	return false, nil
}

// ownMessage returns the id of the message to create for a call if its original message was removed or changed.
func ownMessage(c journal.Call) domarkx.ID {
	return domarkx.DeriveID(0, []byte("call"), c.Message[:], []byte{byte(c.Index >> 8), byte(c.Index)}, []byte(c.Block.Text))
}

// canRun reports whether the live workspace runs code in a language. If none is open, it does not.
func (b *openWorkspace) canRun(language string) bool {
	return b != nil && b.live != nil && b.live.CanRun(language)
}

// stepAt finds a call in its message: at its index, or else the only identical call, because
// other calls may have been added or removed before it.
func stepAt(all []toolcall.Step, c journal.Call) (toolcall.Step, bool) {
	if c.Index < len(all) && (toolcall.SameCode(all[c.Index].Block, c.Block) || toolcall.SameCode(all[c.Index].Block, c.Recorded())) {
		return all[c.Index], true
	}
	var same []toolcall.Step
	for _, s := range all {
		if toolcall.SameCode(s.Block, c.Block) {
			same = append(same, s)
		}
	}
	if len(same) == 1 {
		return same[0], true
	}
	return toolcall.Step{}, false
}

// complete returns the text of a call's block with the arguments that its resource adds, so that
// the call can be repeated. It returns "" if the resource adds none or the call is invalid.
func (b *openWorkspace) complete(ctx context.Context, block domarkx.Block) string {
	if block.Language != toolcall.Language {
		return ""
	}
	asked, err := toolcall.Parse(block.Text)
	if err != nil {
		return ""
	}
	completed, err := b.live.Defaults(ctx, asked.Resource, asked.Call)
	if err != nil || completed.Arguments.Equal(asked.Arguments) {
		return ""
	}
	v, err := jsonvalue.ParseValue([]byte(block.Text))
	if err != nil {
		return ""
	}
	v = v.With("arguments", completed.Arguments)
	if strings.Contains(strings.TrimSpace(block.Text), "\n") {
		return string(v.AppendJSON(nil, "", "  "))
	}
	return toolcall.JSONLine(v)
}

// toolsOf returns the tools of a resource. For tools that the resource lists itself, it returns an
// *trust.UntrustedError unless they are trusted or approved.
func (b *openWorkspace) toolsOf(ctx context.Context, resource string) ([]domarkx.Tool, error) {
	tools, own, err := b.live.Tools(ctx, resource)
	if err != nil || !own {
		return tools, err
	}
	specs := b.live.Specs()
	i := slices.IndexFunc(specs, func(s domarkx.ResourceSpec) bool { return s.ID == resource })
	_, err = b.gate.Permit(ctx, trust.Tools{By: b.permit, Listed: trust.ListTools(specs[i], tools)})
	return tools, err
}
