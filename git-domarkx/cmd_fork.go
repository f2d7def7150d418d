package main

import (
	"fmt"
)

type forkCmd struct {
	sessionOption
	Revision string `arg:"" name:"NAME[#K]" help:"A session, snapshot or message."`
	New      string `arg:"" name:"NEW" help:"The new session's name."`
}

func (forkCmd) Help() string {
	return `
Makes a session that begins with another's messages, up to and including message K when
one is named. The messages are shared, not copied.

The new session gets a workspace of its own, which begins with the version that message K
left. Where the original works on a directory of the work tree, the fork works on a copy.
Both go on independently.

The new session of an imported one is a new session for the other program too: it has
another id, and for pi it names the file of the session that it was forked from.

## Output

    NAME  OID
`
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
