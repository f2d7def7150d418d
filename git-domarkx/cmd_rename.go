package main

import "fmt"

type renameCmd struct {
	sessionOption
	From string `arg:"" name:"A" of:"session" help:"The session."`
	To   string `arg:"" name:"B" help:"Its new name."`
}

func (c *renameCmd) Run(inv *invocation, opened managers) error {
	info, err := opened.turns.Rename(inv.ctx, c.From, c.To)
	if err == nil {
		if err := opened.sessions.MoveDrafts(c.From, c.To); err != nil {
			inv.warn(fmt.Errorf("warning: a saved text that could not become a snapshot is still one of %s: %w; errors/%s.md in the mount shows it", c.From, err, c.From))
		}
	}
	return c.printSession(inv, info, err)
}
