package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// maxRepeats is the number of successive requests for the same call at which the turn stops.
const maxRepeats = 3

// The messages of declined calls.
const (
	declinedByUser    = "the user declined this call"
	declinedByMessage = "the call was not made: the user sent another message instead of approving it"
)

// make decides about the calls of an answer and makes those that are allowed. superseded means that
// the user has sent another message since the answer. Calls that nobody can be asked about are then
// declined; otherwise they stop the turn. The same goes for calls beyond the limit.
func (t *turn) make(ctx context.Context, calls []turns.PendingCall, superseded bool) error {
	for _, c := range calls {
		stopped, err := t.checkCalls(ctx)
		if err != nil {
			return err
		}
		if stopped != nil && !superseded {
			return stopped
		}
		t.emit(CallEvent{c})
		if stopped != nil {
			err = t.refuse(ctx, c, toolcall.Declined(declinedByMessage))
		} else {
			err = t.one(ctx, c, superseded)
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkCalls counts a call, and returns why it is not made if the turn has reached its limit of calls
// and the user does not allow more.
func (t *turn) checkCalls(ctx context.Context) (*StoppedError, error) {
	most := t.request.Limits.Calls
	if most == 0 || t.calls < most {
		t.calls++
		return nil, nil
	}
	reason := fmt.Sprintf("the turn made %d calls, its limit", most)
	if most == 1 {
		reason = "the turn made 1 call, its limit"
	}
	if t.request.More != nil && t.calls == most {
		yes, err := t.request.More(ctx, reason)
		if err != nil {
			return nil, err
		}
		if yes {
			t.calls = 1
			return nil, nil
		}
	}
	t.calls = most + 1 // ask once
	return &StoppedError{Session: t.request.Session, Reason: reason}, nil
}

func (t *turn) one(ctx context.Context, c turns.PendingCall, superseded bool) error {
	if problem := t.tools.problem(c); problem != nil {
		return t.refuse(ctx, c, toolcall.Outcome{Code: problem.Code, Message: problem.Message})
	}
	if t.isRepeated(c) {
		return &StoppedError{Session: t.request.Session,
			Reason: fmt.Sprintf("the model asked for the same call of %s %d times in a row, and it was not made again", t.tools.name(c.Resource, c.Tool), maxRepeats)}
	}
	by, err := t.Approve(ctx, c, *t.tools.offer(c.Resource, c.Tool))
	switch {
	case errors.Is(err, trust.ErrDeclined):
		return t.refuse(ctx, c, toolcall.Declined(declinedByUser))
	case errors.Is(err, trust.ErrNotAsked) && superseded:
		return t.refuse(ctx, c, toolcall.Declined(declinedByMessage))
	case errors.Is(err, trust.ErrNotAsked):
		return &StoppedError{Session: t.request.Session, Options: "--approve all",
			Reason: fmt.Sprintf("the call of %s needs your approval, and was not made", t.tools.name(c.Resource, c.Tool))}
	case err != nil:
		return err
	}
	report, err := t.Make(ctx, c, by)
	if report.OK || report.Code != "" {
		t.emit(ResultEvent{report})
	}
	return err
}

func (t *turn) refuse(ctx context.Context, c turns.PendingCall, o toolcall.Outcome) error {
	report, err := t.Refuse(ctx, c, o)
	if err != nil {
		return err
	}
	t.emit(ResultEvent{report})
	return nil
}

// isRepeated counts successive requests for the same call, and reports whether there are too many.
func (t *turn) isRepeated(c turns.PendingCall) bool {
	key := jsonvalue.ArrayValue(jsonvalue.StringValue(c.Resource), jsonvalue.StringValue(c.Tool), c.Arguments).JSON()
	if key != t.last {
		t.last, t.repeats = key, 0
	}
	t.repeats++
	return t.repeats >= maxRepeats
}
