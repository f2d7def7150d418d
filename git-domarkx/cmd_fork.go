package main

import "fmt"

type forkCmd struct {
	sessionOption
	Revision revisionArg `arg:"" name:"NAME[#K]" of:"session" help:"A session, snapshot or message."`
	New      string      `arg:"" name:"NEW" help:"The new session's name."`
}

func (c *forkCmd) Run(inv *invocation, opened managers) error {
	fork, err := opened.turns.Fork(inv.ctx, c.Revision.Revision, c.New)
	if err == nil && fork.Asleep != nil {
		inv.warn(fmt.Errorf("warning: the workspace of %q is created by its first call: %w", fork.Name, fork.Asleep))
	}
	return c.printSession(inv, fork.Info, err)
}
