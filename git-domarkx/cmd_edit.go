package main

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx"
)

type editCmd struct {
	sessionOption
	Name string `arg:"" name:"NAME" help:"The session."`
}

func (editCmd) Help() string {
	return `
Opens a session as Markdown in your editor ("git var GIT_EDITOR"); what you saved there
becomes one snapshot when the editor ends. When nothing changed, nothing is made. When
the session moved on meanwhile, the two are merged. A text that does not parse is kept,
and the message says where.

## Output

    NAME  OID
`
}

func (editCmd) ExitOne() string {
	return "What was saved does not parse; it is kept, and the message says where."
}

func (c *editCmd) Run(inv *invocation) error {
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	file := editedFile{inv: inv, name: c.Name}
	edited, err := sessions.Edit(inv.ctx, c.Name, file.edit)
	var syntax *domarkx.SyntaxError
	if err = file.clear(err, errors.As(err, &syntax)); err != nil {
		return err
	}
	if !inv.opts.Quiet {
		switch {
		case edited.Merged:
			fmt.Fprintf(inv.err, "%s changed meanwhile; both changes are in it now\n", c.Name)
		case !edited.Changed:
			fmt.Fprintf(inv.err, "%s is unchanged\n", c.Name)
		}
	}
	return c.printSession(inv, edited.Info)
}
