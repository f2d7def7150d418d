package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" name:"COMMAND" help:"The command; without one, the program."`
}

func (helpCmd) Help() string {
	return `
Prints everything about a command: what it does, what it prints and what its exit
statuses mean. "git domarkx COMMAND -h" prints the usage on one screen.

"git domarkx --help" and "git help domarkx" are answered by Git itself, with the
manual page; "make install" puts the pages in place, and so does "git domarkx man
--install" after "go install".
`
}

func (c *helpCmd) Run(inv *invocation) error {
	node, err := inv.command(c.Command)
	if err != nil {
		return err
	}
	if err := inv.page(); err != nil {
		return err
	}
	if err := clidoc.New(node, resultFields).WriteText(inv.out); err != nil {
		return fmt.Errorf("writing the help: %w", err)
	}
	return nil
}
