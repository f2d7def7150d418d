package main

import "github.com/domarkx/domarkx/git-domarkx/engine/turns"

type appendCmd struct {
	sessionOption
	New  bool    `help:"Create the session if it does not exist."`
	Role string  `default:"user" enum:"user,assistant,system" placeholder:"ROLE" help:"user (the default), assistant or system."`
	Text *string `short:"m" name:"message" placeholder:"TEXT" help:"The message; read from standard input, up to 64 MiB, unless given."`
	Name string  `arg:"" name:"NAME" help:"The session."`
}

func (appendCmd) Help() string {
	return `
Adds a message to the end of a session. The text is Markdown: its fences become code
blocks. A line in it that would begin another message is escaped.

A system message is stored as one of the user whose metadata says that it is the system's.

A message of the assistant is linked to the version of the session's workspace that is
live, after changes made by hand in its directories were committed as a version; where
nothing is live, to the version that the session was linked to last. Nothing is started
for that.

When the command returns, the message is on the disk. Any number of processes may append
to one session at once.

## Output

    NAME  OID

## Examples

    git domarkx append --new -m 'What does this do?' talk
    model < prompt.txt | git domarkx append --role assistant talk
`
}

func (c *appendCmd) Run(inv *invocation) error {
	message := c.Text
	if message == nil {
		read, err := inv.readMessage()
		if err != nil {
			return err
		}
		message = &read
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
	info, err := opened.turns.Append(inv.ctx, turns.AppendRequest{Name: c.Name, New: c.New, Role: c.Role, Text: *message})
	if err != nil {
		return withNew(err)
	}
	return c.printSession(inv, info)
}
