package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A talk is a conversation of the user with a model.
type talk struct {
	inv     *invocation
	command *chatCmd
	chat    *chat.Chat
	opened  managers
	model   chat.Model
	name    string // of the model
	files   []turns.File
	lines   *lineEditor // nil if nobody can be asked
	always  map[string]bool

	open   bool  // the shown part of the answer does not end with a line end
	broken error // errors of writing the output
}

// asker returns a function that asks the user a question with yes or no, or nil if nobody can be asked.
func (t *talk) asker() func(question string) (bool, error) {
	if t.lines == nil {
		return nil
	}
	return func(question string) (bool, error) {
		answer, err := t.lines.question(t.inv.ctx, question)
		return answer == "y" || answer == "yes", err
	}
}

func (t *talk) request(message *string) chat.Request {
	c := t.command
	r := chat.Request{Session: c.Name, New: c.New, Text: message, Model: t.model, Approve: t.calls(),
		Limits: chat.Limits{Responses: c.MaxTurns, Calls: c.MaxCalls, Tokens: c.MaxTokens, Cost: c.MaxCost}, Trust: t.trust, Emit: t.show}
	if ask := t.asker(); ask != nil {
		r.More = func(_ context.Context, reason string) (bool, error) {
			return ask(strings.ToUpper(reason[:1]) + reason[1:] + ". Make as many again? [y/N] ")
		}
	}
	if message != nil { // without one, the turn before goes on
		r.Files, t.files = t.files, nil
	}
	return r
}

// once takes one turn, and prints its result if events are not printed.
func (t *talk) once(message *string) error {
	result, err := t.chat.Turn(t.inv.ctx, t.request(message))
	t.endLine()
	showSetup(t.inv.err, err)
	switch {
	case errors.Is(err, errInterrupt):
		return signalError{syscall.SIGINT}
	case err != nil || t.broken != nil:
		return errors.Join(err, t.broken)
	case t.command.JSON || t.inv.out.tty || result.Text == "":
		return nil
	}
	_, err = fmt.Fprintln(t.inv.out, result.Text)
	return err
}

// converse takes a turn for each message that the user types.
func (t *talk) converse() error {
	for _, line := range t.history() {
		t.lines.history.add(line)
	}
	_, err := t.opened.store.Tip(t.inv.ctx, t.command.Name)
	if isNew := errors.Is(err, domarkx.ErrNotFound) && t.command.New; !isNew {
		if err := t.turn(nil); err != nil { // an earlier chat may not have ended its turn
			return err
		}
	}
	fmt.Fprintf(t.inv.err, "%s with %s. Ctrl-D ends the conversation.\n", visible(t.command.Name), visible(t.name))
	interrupts := 0
	for {
		text, err := t.lines.message(t.inv.ctx)
		switch {
		case errors.Is(err, errInterrupt):
			if interrupts++; interrupts > 1 {
				return signalError{syscall.SIGINT}
			}
			fmt.Fprintln(t.inv.err, "Ctrl-C again, or Ctrl-D, ends the conversation.")
			continue
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errLongLine):
			printError(t.inv.err, err)
			continue
		case err != nil:
			return err
		}
		interrupts = 0
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := t.turn(&text); err != nil {
			return err
		}
	}
}

// turn takes one turn of a conversation. It shows an error, and returns it only if the conversation must end.
func (t *talk) turn(message *string) error {
	ctx, cancel := context.WithCancelCause(t.inv.ctx)
	defer cancel(nil)
	restore := t.inv.signals.handle(func(s os.Signal) bool {
		if s != os.Interrupt {
			return false
		}
		cancel(signalError{syscall.SIGINT})
		return true
	})
	_, err := t.chat.Turn(ctx, t.request(message))
	restore()
	t.endLine()
	showSetup(t.inv.err, err)
	switch {
	case t.inv.ctx.Err() != nil:
		return context.Cause(t.inv.ctx)
	case t.broken != nil:
		return t.broken
	case err == nil, errors.Is(err, chat.ErrNothing):
		return nil
	case ctx.Err() != nil, errors.Is(err, errInterrupt):
		fmt.Fprintln(t.inv.err, "Stopped; the part of the answer that arrived is stored, and the other calls can be made later.")
		return nil
	case message == nil && (is[*trust.UntrustedError](err) || errors.Is(err, domarkx.ErrNotFound)):
		return err
	}
	printError(t.inv.err, err)
	return nil
}

// history returns the user's earlier messages that consist of one line, the newest last.
func (t *talk) history() []string {
	const most, looked = 100, 1000
	var all []string
	info, err := t.opened.sessions.Resolve(t.inv.ctx, tipOf(t.command.Name))
	if err != nil {
		return nil
	}
	n := 0
	for e, err := range t.opened.turns.MessagesBackward(t.inv.ctx, info) {
		if n++; err != nil || n > looked || len(all) == most {
			break
		}
		if e.Role != domarkx.User {
			continue
		}
		m, err := view.LoadMessage(t.inv.ctx, t.opened.store, e)
		if err == nil && m.Metadata == nil && len(m.Content) == 1 && m.Content[0].Type == domarkx.TextBlock && !strings.Contains(m.Content[0].Text, "\n") {
			all = append(all, m.Content[0].Text)
		}
	}
	slices.Reverse(all)
	return all
}

// trust asks whether the user agrees to work on an untrusted session, this time only.
func (t *talk) trust(_ context.Context, e *trust.UntrustedError) (bool, error) {
	t.inv.showListing(e.Listing)
	ask := t.asker()
	if ask == nil {
		return false, nil
	}
	if len(e.Brought) > 0 {
		return ask(loadBrought + " [y/N] ")
	}
	return ask(visible(e.Session) + " is not trusted. Work on this, once? [y/N] ")
}

// calls returns the calls of the model that the user agrees to.
func (t *talk) calls() trust.Calls {
	c := trust.Calls{All: t.command.Approve == "all", ReadOnly: t.command.Approve == "readonly"}
	if t.lines != nil {
		c.Ask = t.decide
	}
	if c.ReadOnly {
		if config, err := t.inv.modelSettings(); err == nil {
			c.Listed = config.GetAll("domarkx.approve")
		}
	}
	return c
}

// decide asks the user about a call, which has just been shown.
func (t *talk) decide(ctx context.Context, resource, tool string) (trust.Decision, error) {
	name := resource + "__" + tool
	if t.always[name] {
		return trust.Allow, nil
	}
	for {
		answer, err := t.lines.question(ctx, fmt.Sprintf("Make this call of %s? [y]es, [n]o, [a]lways: ", visibleLine(tool)))
		if err != nil {
			return trust.Stop, err
		}
		switch answer {
		case "y", "yes":
			return trust.Allow, nil
		case "n", "no":
			return trust.Deny, nil
		case "a", "always":
			if t.always == nil {
				t.always = map[string]bool{}
			}
			t.always[name] = true
			return trust.Allow, nil
		}
	}
}
