package main

import (
	"fmt"

	"github.com/domarkx/domarkx"
)

type appendCmd struct {
	Role string  `default:"user" enum:"user,assistant" placeholder:"ROLE" help:"user (the default) or assistant."`
	Text *string `short:"m" name:"message" placeholder:"TEXT" help:"The message; read from standard input unless given."`
	Name string  `arg:"" name:"NAME" help:"The session; it is made when it is not there."`
}

func (appendCmd) Help() string {
	return `
Adds a message to the end of a session. The text is Markdown: its fences become code
blocks. A line in it that would begin another message is escaped.

A message of the assistant is linked to the version of the session's workspace that is
live, after changes made by hand in its folders were committed as a version; where
nothing is live, to the version that the session was linked to last. Nothing is started
for that.

When the command returns, the message is on the disk. Any number of processes may append
to one session at once.

## Output

    NAME  OID

## Examples

    git domarkx append -m 'What does this do?' talk
    model < prompt.txt | git domarkx append --role assistant talk
`
}

// Run adds the message.
func (c *appendCmd) Run(inv *invocation) error {
	message := c.Text
	if message == nil {
		data, err := inv.readInput()
		if err != nil {
			return fmt.Errorf("reading standard input: %w", err)
		}
		read := string(data)
		message = &read
	}
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	info, err := sessions.Append(inv.ctx, c.Name, domarkx.Role(c.Role), *message)
	if err != nil {
		return err
	}
	return printSession(inv, info)
}
