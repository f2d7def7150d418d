package main

import (
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

type rmCmd struct {
	sessionsOption
	Names []string `arg:"" name:"NAME" help:"The sessions."`
	Force bool     `name:"force" help:"Remove it even where what changed in the workspace cannot be committed."`
}

func (c *rmCmd) Run(inv *invocation, opened managers) error {
	err := c.printEach(inv, c.Names, func(name string) (domarkx.Info, error) {
		return opened.turns.Remove(inv.ctx, name, inv.loss(c.Force))
	})
	if err := search.Forget(inv.ctx, opened.store); err != nil {
		inv.warn(fmt.Errorf("removed texts are still in the search index; run git domarkx search, which removes them: %w", err))
	}
	return err
}
