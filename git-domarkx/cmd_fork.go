package main

import (
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type forkCmd struct {
	Revision string `arg:"" name:"NAME[#K]" help:"A session, snapshot or message."`
	New      string `arg:"" name:"NEW" help:"The new session's name."`
}

func (forkCmd) Help() string {
	return `
Makes a session that begins with another's messages, up to and including message K when
one is named. The messages are shared, not copied.

## Output

    NAME  OID
`
}

// Run makes the session.
func (c *forkCmd) Run(inv *invocation) error {
	revision, err := engine.ParseRevision(c.Revision)
	if err != nil {
		return err
	}
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	info, err := sessions.Fork(inv.ctx, revision, c.New)
	if err != nil {
		return err
	}
	return printSession(inv, info)
}
