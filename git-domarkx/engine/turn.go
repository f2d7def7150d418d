package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/domarkx/domarkx"
)

// A CallReport is what became of one call.
type CallReport struct {
	Message  int // of the session, from 0
	Index    int // of the call among those of the message, from 0
	Resource string
	Tool     string // the language of a block of code
	Outcome
	// WorkspaceVersion is the version of the workspace after the call.
	WorkspaceVersion string
}

// at completes the report of a call that was recorded there, unless there was an error.
func (r CallReport) at(p place, err error) (CallReport, error) {
	r.Message, r.Index = p.message, p.index
	if err == nil {
		err = p.untrusted
	}
	return r, err
}

// A target is a call that is to be made, and where its outcome is recorded.
type target struct {
	journalled
	operation string
	prune     bool // the results behind it are of calls on a state that is no more
}

// A place is where an outcome was recorded.
type place struct {
	message   int   // of the session
	index     int   // of the call among those of the message
	untrusted error // why trust in the session did not grow over a message that the call became
}

// A making is a call that was made, before it is recorded.
type making struct {
	resource, tool string
	result         domarkx.Result
	err            error
}

// perform makes a call: it is noted before it starts, what changed before it becomes
// a version of its own, and its outcome, the version after it and the link to that
// are stored in one update. The error is what kept it from being recorded; that a
// call itself failed stands in the report.
func (b *bench) perform(ctx context.Context, t target, call func(context.Context) making) (CallReport, error) {
	t.Workspace, t.Process = b.workspace, os.Getpid()
	if err := b.commitChanges(ctx); err != nil && ctx.Err() != nil {
		return CallReport{}, err
	} // else the call may be what takes away a file that cannot be kept; if not, its record says so
	journal := b.m.journal()
	if err := journal.begin(t.journalled); err != nil {
		return CallReport{}, err
	}
	made := call(ctx)
	ended := context.Cause(ctx)
	ctx = context.WithoutCancel(ctx) // what was done is recorded, also when the user ends the program
	t.Resource, t.Tool = made.resource, made.tool
	outcome := Outcome{OK: true, Result: made.result.Value}
	switch {
	case made.err != nil && ended != nil:
		outcome = interrupted(t.Session)
	case made.err != nil:
		outcome = failed(made.err)
	}
	report, err := b.record(ctx, t, outcome, made.result.Attachment)
	if err != nil {
		return report, errors.Join(err, ended)
	}
	return report, errors.Join(journal.end(t.journalled), ended)
}

// record stores the outcome of a call with the version that it left.
func (b *bench) record(ctx context.Context, t target, outcome Outcome, attachment io.ReadCloser) (CallReport, error) {
	report := CallReport{Index: t.Index, Resource: t.Resource, Tool: t.Tool}
	var output *os.File
	if attachment != nil {
		var err error
		if output, err = b.m.spool(attachment); err != nil {
			return report, fmt.Errorf("keeping the output of a call: %w", err)
		}
		defer output.Close()
	}
	var at place
	changes, err := b.live.Commit(ctx)
	if err != nil {
		if outcome.OK {
			outcome = Outcome{Code: domarkx.CodeFailed, Message: fmt.Sprintf("the call was made, but what it left cannot be kept: %v", err)}
		} else { // that it failed, or was interrupted, stays what the record says first
			outcome.Message = fmt.Sprintf("%s; and what it left cannot be kept: %v", outcome.Message, err)
		}
		report.Outcome = outcome
		stored := b.m.update(ctx, t.operation+" "+t.Session, func(tx Tx) error {
			at, err = b.recordIn(ctx, tx, t, outcome, domarkx.Version{}, nil)
			return err
		})
		return report.at(at, stored)
	}
	if outcome.OK {
		outcome.Version = resourceVersion(changes.Resources, t.Resource)
	}
	err = b.commit(ctx, changes, versionRequest{operation: "call", subject: callSubject(t), changed: changes.Changed,
		call: &domarkx.CallRecord{Session: t.Session, Message: t.Message, Index: t.Index, Resource: t.Resource, Tool: toolOf(t)}},
		func(tx Tx, v domarkx.Version) error {
			o := outcome
			var attachments []domarkx.Attachment
			if output != nil {
				a, err := attach(ctx, tx, output)
				if err != nil {
					return err
				}
				attachments = append(attachments, a)
				o.Result = o.Result.With("attachment", domarkx.StringValue(a.SHA256))
			}
			report.WorkspaceVersion, report.Outcome = v.ID, o
			at, err = b.recordIn(ctx, tx, t, o, v, attachments)
			return err
		})
	return report.at(at, err)
}

func attach(ctx context.Context, tx Tx, output *os.File) (domarkx.Attachment, error) {
	if _, err := output.Seek(0, io.SeekStart); err != nil {
		return domarkx.Attachment{}, err
	}
	blob, sum, err := tx.StoreAttachment(ctx, output)
	return domarkx.Attachment{SHA256: sum, Blob: blob}, err
}

// toolOf is the tool of a call as a version's commit names it: none for a block of
// code.
func toolOf(t target) string {
	if t.Block.Language == toolCall {
		return t.Tool
	}
	return ""
}

func callSubject(t target) string {
	what := t.Tool
	if t.Block.Language != toolCall {
		what = strings.TrimSpace(t.Block.Language + " " + t.Block.Name)
	}
	return fmt.Sprintf("call %s of %s", what, t.Session)
}

// recordInterrupted records the calls on this workspace during which a program was
// killed.
func (b *bench) recordInterrupted(ctx context.Context) error {
	journal := b.m.journal()
	begun, err := journal.list()
	if err != nil {
		return err
	}
	for _, c := range begun {
		if c.Workspace != b.workspace {
			continue
		}
		recorded, err := b.isRecorded(ctx, c)
		if err != nil {
			return err
		}
		if !recorded {
			t := target{journalled: c, operation: "run"}
			if _, err := b.record(ctx, t, interrupted(c.Session), nil); err != nil {
				return err
			}
		}
		if err := journal.end(c); err != nil {
			return err
		}
	}
	return nil
}

// isRecorded reports whether the outcome of a call is in its session, or the
// session is gone.
func (b *bench) isRecorded(ctx context.Context, c journalled) (bool, error) {
	tip, err := b.m.store.Tip(ctx, c.Session)
	if errors.Is(err, domarkx.ErrNotFound) {
		return true, nil
	}
	if err != nil {
		return false, err
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
		msg, err := loadMessage(ctx, b.m.store, e)
		if err != nil {
			return false, err
		}
		if s, ok := stepAt(steps(msg, b.live.CanRun), c); ok && s.done && s.result != c.Before {
			return true, nil
		}
	}
	return false, nil
}

// ownMessage is the id of the message that a call becomes whose own message went
// away, or says something else by now.
func ownMessage(c journalled) domarkx.ID {
	return domarkx.DeriveID(0, []byte("call"), c.Message[:], []byte{byte(c.Index >> 8), byte(c.Index)}, []byte(c.Block.Text))
}

// stepAt finds a call among those of its message: where it was, or else, when calls
// came or went before it, the only one that is the same.
func stepAt(all []step, c journalled) (step, bool) {
	if c.Index < len(all) && (sameCode(all[c.Index].block, c.Block) || sameCode(all[c.Index].block, c.recorded())) {
		return all[c.Index], true
	}
	var same []step
	for _, s := range all {
		if sameCode(s.block, c.Block) {
			same = append(same, s)
		}
	}
	if len(same) == 1 {
		return same[0], true
	}
	return step{}, false
}
