package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/chat"
	"github.com/domarkx/domarkx/git-domarkx/chat/models"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

type chatCmd struct {
	Model     string   `placeholder:"MODEL" help:"The model that answers; the default is that of your configuration."`
	Text      *string  `short:"m" name:"message" placeholder:"TEXT" help:"The message; otherwise a conversation on a terminal, and standard input, up to 64 MiB, off it."`
	Attach    []string `placeholder:"FILE" sep:"none" help:"Send a picture or a text file along; may be repeated."`
	Approve   string   `default:"ask" enum:"ask,readonly,all" placeholder:"WHICH" help:"Which calls run without being asked for: ask (none, the default), readonly or all."`
	MaxTurns  int      `default:"50" placeholder:"N" help:"How many answers of the model a turn may have; 50 unless given."`
	MaxCalls  int      `default:"100" placeholder:"N" help:"How many calls a turn may make; 100 unless given."`
	MaxTokens int64    `placeholder:"N" help:"End the turn when it has used so many tokens."`
	MaxCost   float64  `placeholder:"USD" help:"End the turn when it has cost so much."`
	JSON      bool     `name:"json" help:"Print each step as a JSON object on a line of its own."`
	New       bool     `help:"Create the session if it does not exist."`
	Name      string   `arg:"" name:"NAME" help:"The session."`
}

func (c *chatCmd) Run(inv *invocation) error {
	if c.MaxTurns < 0 || c.MaxCalls < 0 || c.MaxTokens < 0 || c.MaxCost < 0 {
		return usagef("a limit is negative")
	}
	interactive := isTerminal(inv.in) && isTerminal(inv.err) && inv.out.tty
	talks := interactive && c.Text == nil && !c.JSON
	message := c.Text
	if message == nil && !interactive {
		text, err := inv.readMessage()
		if err != nil {
			return err
		}
		if strings.TrimSpace(text) != "" {
			message = &text
		}
	}
	if len(c.Attach) > 0 && message == nil && !talks {
		return usagef("--attach needs a message to send the files with; give -m or standard input")
	}
	files, err := c.files()
	if err != nil {
		return err
	}
	opened, err := inv.open()
	if err != nil {
		return err
	}
	if !c.New {
		if err := inv.complete(&c.Name); err != nil {
			return err
		}
	}
	inv.mentionDrafts(c.Name)
	t := &talk{inv: inv, command: c, chat: chat.New(opened.turns, opened.store, opened.git.StateDir()), opened: opened, files: files}
	if interactive {
		t.lines = newLineEditor(inv)
	}
	name, err := c.chooseModel(inv, opened, t.asker())
	if err != nil {
		return c.answerNo(inv, err)
	}
	model, d, err := inv.chatModel(name)
	if err != nil {
		return c.answerNo(inv, err)
	}
	if c.MaxCost > 0 && model.Price == nil {
		return c.answerNo(inv, refusal(fmt.Sprintf("--max-cost: the price of %s is not known; set domarkx.price.%s.input and .output (USD for a million tokens)", d.Name, d.Model)))
	}
	t.model, t.name = model, name
	defer opened.scans.Prepare(inv.ctx)()          // in the background, while the model answers
	before, _ := opened.store.Tip(inv.ctx, c.Name) //nolint:errcheck // a new session has none
	if talks {
		err = t.converse()
	} else {
		err = c.answerNo(inv, t.once(message))
	}
	if after, tipErr := opened.store.Tip(inv.ctx, c.Name); tipErr == nil && after.ID != before.ID && inv.ctx.Err() == nil {
		inv.warnSecrets(opened, []engine.SaveResult{{Info: after, Changed: true, Before: before}})
	}
	return withNew(err)
}

// files reads the files that are attached to the first message.
func (c *chatCmd) files() ([]turns.File, error) {
	const most = 16 << 20 // bytes
	var files []turns.File
	for _, path := range c.Attach {
		f, err := os.Open(path)
		if err != nil {
			return nil, fmt.Errorf("--attach: %w", err)
		}
		data, err := io.ReadAll(io.LimitReader(f, most+1))
		f.Close()
		if err == nil && len(data) > most {
			err = fmt.Errorf("%w: it has more than %d MiB", domarkx.ErrInvalid, most>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("--attach %s: %w", path, err)
		}
		files = append(files, turns.File{Path: filepath.Base(path), Data: data})
	}
	return files, nil
}

// A refusal is an error of a command that has changed nothing.
type refusal string

func (r refusal) Error() string { return string(r) }

// answerNo reports an error. If the error means that the turn was not allowed to continue, the exit status is 1.
func (c *chatCmd) answerNo(inv *invocation, err error) error {
	isNo := is[*chat.StoppedError](err) || errors.Is(err, chat.ErrNothing) || is[refusal](err) || errors.Is(err, models.ErrNoModel) || is[*trust.UntrustedError](err)
	if err != nil && c.JSON && context.Cause(inv.ctx) == nil {
		if err := errors.Join(inv.jsonLine(chatError{"error", err.Error()}), inv.out.Flush()); err != nil {
			return err
		}
	}
	if !isNo {
		return err
	}
	printError(inv.err, err)
	return errNo
}
