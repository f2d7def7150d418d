package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/clidoc"
)

type helpCmd struct {
	Command []string `arg:"" optional:"" name:"COMMAND" help:"The command; without one, the program."`
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
