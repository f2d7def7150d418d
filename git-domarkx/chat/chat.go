// Package chat lets language models answer in sessions. A turn begins with a message of the user
// and ends with the model's final answer; in between, the model calls tools of the session's
// workspace. Every step is stored before the next one begins. A turn can therefore be continued
// after a kill, edited before it is continued, or continued with another model.
package chat

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat/provider"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// A Model is the model that answers, with its limits and its price.
type Model struct {
	Wire      provider.Wire
	Context   int64 // size of the context window in tokens; 0 if unknown
	MaxTokens int   // maximum length of an answer in tokens; 0 for the wire's default
	Reasoning provider.Reasoning
	Price     *prices.Price // nil if unknown
}

// cost returns the cost of an answer in USD; 0 if the price is unknown.
func (m *Model) cost(u provider.Usage) float64 {
	if m.Price == nil {
		return 0
	}
	return m.Price.Cost(prices.Tokens{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
}

// Limits stop a turn before its next answer, and Calls before the next call. Zero means no limit.
type Limits struct {
	Responses int
	Calls     int
	Tokens    int64   // of requests and answers together, including cached tokens
	Cost      float64 // USD; requires the price of the model
}

// A Request describes a turn.
type Request struct {
	Session string
	New     bool    // create the session if it does not exist
	Text    *string // the user's message, as Markdown; nil to continue a turn
	Files   []turns.File
	Model   Model
	Approve trust.Calls
	Limits  Limits
	// Trust asks whether an untrusted session may be worked on this once; nil means no.
	Trust func(ctx context.Context, e *trust.UntrustedError) (bool, error)
	// More asks whether to make as many calls again when the limit of calls is reached; nil means no.
	More func(ctx context.Context, reason string) (bool, error)
	// Emit receives the events of the turn, one at a time. It may be nil.
	Emit func(Event)
}

// A Result describes a turn that ended.
type Result struct {
	Text  string // the final answer, as Markdown
	Usage provider.Usage
	Cost  float64 // USD; 0 if the price is unknown
}

// A StoppedError means that a turn was stopped by a limit or by a call that the user did not
// approve. The turn can be continued.
type StoppedError struct {
	Session string
	Reason  string
	Options string // options for the command that continues the turn
}

func (e *StoppedError) Error() string {
	options := ""
	if e.Options != "" {
		options = " " + e.Options
	}
	return fmt.Sprintf("%s; to go on: git domarkx chat%s %s", e.Reason, options, refname.Argument(e.Session))
}

// ErrNothing means that a session has no turn to continue: it has no messages, or its last message
// is a complete answer.
var ErrNothing = errors.New("there is nothing to go on with; give a message")

// A Chat runs turns in the sessions of a repository.
type Chat struct {
	turns    *turns.Manager
	store    *gitstore.Store
	stateDir string
	memory   *memory // cache for the last turn's session and model; may be nil
}

// New returns a chat. It records answers in stateDir while they arrive.
func New(manager *turns.Manager, store *gitstore.Store, stateDir string) *Chat {
	return &Chat{turns: manager, store: store, stateDir: stateDir}
}

// Turn runs a turn. If ctx ends, Turn stores the text of the unfinished answer and marks it as
// interrupted, ends a running tool and records its result, and returns the cause of ctx. If the
// provider fails, the error is that of the wire (see [provider.Error]). Other errors are a
// [*StoppedError], [ErrNothing], and those of [turns.Manager.BeginTurn].
func (c *Chat) Turn(ctx context.Context, r Request) (result Result, err error) {
	t := &turn{chat: c, request: r, origin: r.Model.Wire.Origin()}
	if t.Turn, err = c.turns.BeginTurn(ctx, turns.TurnRequest{Name: r.Session, New: r.New, Approve: trust.Consent{Ask: r.Trust, Calls: r.Approve}}); err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, t.Close(context.WithoutCancel(ctx))) }()
	err = t.run(ctx)
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause // other errors result from it
	}
	return t.result, err
}

// A turn is a running turn.
type turn struct {
	*turns.Turn
	chat    *Chat
	request Request
	origin  provider.Origin
	tools   toolTable
	memory  *memory
	result  Result
	answers int
	calls   int    // decided since the last time that the user allowed more
	last    string // the last call that the model requested
	repeats int    // how many times in a row the model requested it

	shortened bool // requests contain only the beginnings of old results
	compacted bool // the current request was shortened by a summary
}

func (t *turn) emit(e Event) {
	if t.request.Emit != nil {
		t.request.Emit(e)
	}
}

func (t *turn) run(ctx context.Context) error {
	if err := t.recoverStream(ctx); err != nil {
		return err
	}
	if err := t.Recover(ctx); err != nil {
		return err
	}
	if t.request.Text != nil {
		if err := t.ask(ctx, *t.request.Text, t.request.Files); err != nil {
			return err
		}
	}
	offers, err := t.Tools(ctx)
	if err != nil {
		return err
	}
	t.tools = newToolTable(offers)
	t.memory = t.chat.remember(t.request.Session, t.origin, t.tools)
	left, err := t.Pending(ctx)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		if err := t.make(ctx, left, t.request.Text != nil); err != nil {
			return err
		}
	} else if t.request.Text == nil {
		if over, err := t.isOver(ctx); err != nil || over {
			return errors.Join(err, ErrNothing)
		}
	}
	for {
		if err := t.checkLimits(); err != nil {
			return err
		}
		answer, err := t.answer(ctx)
		if err != nil {
			return err
		}
		calls, err := t.Pending(ctx)
		if err != nil {
			return err
		}
		if len(calls) == 0 {
			if answer.Stop == provider.StopPause {
				continue
			}
			t.noteEnd(answer)
			return nil
		}
		if err := t.make(ctx, calls, false); err != nil {
			return err
		}
	}
}

// noteEnd emits a notice if an answer ended for an unusual reason.
func (t *turn) noteEnd(a provider.Answer) {
	reason := ""
	switch a.Stop {
	case provider.StopMaxTokens:
		reason = "the answer was cut at the limit of tokens for one answer"
	case provider.StopContext:
		reason = "the answer was cut because the model's context window is full"
	case provider.StopRefusal:
		reason = "the model refused to answer"
	case provider.StopOther:
		reason = "the model stopped: " + a.Reported
	default:
		if len(a.Parts) > 0 {
			return
		}
		reason = "the answer is empty"
	}
	t.emit(provider.Notice(reason))
}

// isOver reports whether there is nothing to answer: the session has no messages, or its last
// message is a complete answer.
func (t *turn) isOver(ctx context.Context) (bool, error) {
	tip, err := t.Tip(ctx)
	if err != nil || tip.Messages == 0 {
		return true, err
	}
	e, err := t.chat.store.Entry(ctx, tip.ID, tip.Messages-1)
	if err != nil || e.Role != domarkx.Assistant {
		return false, err
	}
	msg, err := view.LoadMessage(ctx, t.chat.store, e)
	if err != nil {
		return false, err
	}
	ends := len(msg.Content) > 0 && isCode(msg.Content[len(msg.Content)-1], toolResult)
	return !ends && !metadata(msg, metaInterrupted).IsTrue(), nil
}

// checkLimits returns a *StoppedError if the turn has reached a limit.
func (t *turn) checkLimits() error {
	l := t.request.Limits
	reason := ""
	switch total := t.result.Usage.Context(); {
	case l.Responses > 0 && t.answers >= l.Responses:
		reason = fmt.Sprintf("the turn had %d answers, its limit", t.answers)
	case l.Tokens > 0 && total >= l.Tokens:
		reason = fmt.Sprintf("the turn used %d tokens, and its limit is %d", total, l.Tokens)
	case l.Cost > 0 && t.result.Cost >= l.Cost:
		reason = fmt.Sprintf("the turn cost %.4f USD, and its limit is %.4f", t.result.Cost, l.Cost)
	default:
		return nil
	}
	return &StoppedError{Session: t.request.Session, Reason: reason}
}

// spend adds the tokens and the cost of an answer to the result.
func (t *turn) spend(u provider.Usage) {
	total := &t.result.Usage
	total.Input += u.Input
	total.CacheRead += u.CacheRead
	total.CacheWrite += u.CacheWrite
	total.Output += u.Output
	total.Reasoning += u.Reasoning
	t.result.Cost += t.request.Model.cost(u)
}
