package main

import "github.com/domarkx/domarkx/git-domarkx/engine/turns"

type appendCmd struct {
	sessionOption
	New  bool    `help:"Create the session if it does not exist."`
	Role string  `default:"user" enum:"user,assistant,system" placeholder:"ROLE" help:"user (the default), assistant or system."`
	Text *string `short:"m" name:"message" placeholder:"TEXT" help:"The message; read from standard input, up to 64 MiB, unless given."`
	Name string  `arg:"" name:"NAME" help:"The session."`
}

func (c *appendCmd) prepare(inv *invocation) error {
	if c.Text != nil {
		return nil
	}
	text, err := inv.readMessage()
	c.Text = &text
	return err
}

func (c *appendCmd) Run(inv *invocation, opened managers) error {
	if !c.New {
		if err := inv.complete(&c.Name); err != nil {
			return err
		}
	}
	info, err := opened.turns.Append(inv.ctx, turns.AppendRequest{Name: c.Name, New: c.New, Role: c.Role, Text: *c.Text})
	return c.printSession(inv, info, withNew(err))
}
