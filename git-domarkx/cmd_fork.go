package main

import (
	"fmt"
)

type forkCmd struct {
	sessionOption
	Revision string `arg:"" name:"NAME[#K]" help:"A session, snapshot or message."`
	New      string `arg:"" name:"NEW" help:"The new session's name."`
}

func (c *forkCmd) Run(inv *invocation) error {
	opened, revision, err := inv.openAt(c.Revision)
	if err != nil {
		return err
	}
	fork, err := opened.turns.Fork(inv.ctx, revision, c.New)
	if err != nil {
		return err
	}
	if fork.Asleep != nil {
		inv.warn(fmt.Errorf("warning: the workspace of %q is created by its first call: %w", fork.Name, fork.Asleep))
	}
	return c.printSession(inv, fork.Info)
}
