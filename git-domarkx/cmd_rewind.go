package main

import (
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type rewindCmd struct {
	Revision string `arg:"" name:"NAME#K" help:"The last message to keep, or a snapshot: NAME~2, NAME@OID."`
}

func (rewindCmd) Help() string {
	return `
Takes a session back: to its messages up to and including K, or to what it was at a
snapshot. A rewind is a new snapshot on top, so nothing leaves the history; the command
that undoes it is printed on standard error.

## Output

    NAME  OID
`
}

// Run takes the session back.
func (c *rewindCmd) Run(inv *invocation) error {
	revision, err := engine.ParseRevision(c.Revision)
	if err != nil {
		return err
	}
	if revision.Message < 0 && revision.ID == "" && revision.Back == 0 {
		return usagef("%q names no snapshot or message to go back to, expected NAME#K, NAME~2 or NAME@OID", c.Revision)
	}
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	now, before, err := sessions.Rewind(inv.ctx, revision)
	if err != nil {
		return err
	}
	if now.ID != before.ID && !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "To undo: git domarkx rewind %s@%s\n", before.Name, before.ID)
	}
	return printSession(inv, now)
}
