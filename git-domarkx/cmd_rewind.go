package main

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

type rewindCmd struct {
	sessionOption
	Yes      bool   `help:"Take a work tree back even while an agent works in it."`
	Revision string `arg:"" name:"NAME#K" help:"The last message to keep, or a snapshot: NAME~2, NAME@OID."`
}

func (rewindCmd) Help() string {
	return `
Takes a session back: to its messages up to and including K, or to what it was at a
snapshot. A rewind is a new snapshot on top, so nothing leaves the history; the command
that undoes it is printed on standard error.

The session's workspace goes along, to what it was then, in a version on top. Where it is
live on this machine, what changed since the last call is committed first, and then the
live resources are taken back, too.

A session of a coding agent that was recorded as it worked takes its work tree back: what is
there now becomes a version first, so nothing is lost. A session that was recorded in another
clone takes the present work tree back. Files that Git ignores now or ignored
then, nested repositories, what is over a limit of versions, and other work trees stay as they are; what a
version from elsewhere has of nested repositories and special files is not written. It is refused
while an agent is in the middle of a turn in this work tree or wrote within the last minute,
unless --yes is given. It waits, for five seconds at most, until what the agent has just done is linked to its messages.

What another program saves in the work tree meanwhile is never overwritten and never removed: such
a file is left as it is, as is one that a program has open for writing. The others are taken back, and
the exit status is 1; the same command goes on. Everything that stays as it is, except for what Git ignores
now, is named on standard error, and with --json as left_alone.

## Output

    NAME  OID
`
}

func (rewindCmd) row() any { return rewindRow{} }

// A rewindRow describes a rewind.
type rewindRow struct {
	sessionRow
	LeftAlone []leftAloneRow `json:"left_alone" doc:"what stays as it is in the work tree"`
}

// A leftAloneRow is a file or directory that a rewind left as it is.
type leftAloneRow struct {
	Path   string `json:"path" doc:"the path from the top of the work tree"`
	Reason string `json:"reason" doc:"changed meanwhile, ignored then, large, nested repository, unreadable, changing, mount point or special"`
}

func (rewindCmd) ExitOne() string {
	return "An agent is in the middle of a turn in the work tree, a resource of the workspace cannot be committed or loaded, or another program changed files of the work tree meanwhile; the message says what was done."
}

// maxLeftAlone is the number of files left alone that the text names.
const maxLeftAlone = 100

func (c *rewindCmd) Run(inv *invocation) error {
	revision, err := engine.ParseRevision(c.Revision)
	if err != nil {
		return err
	}
	if revision.Message < 0 && revision.ID == "" && revision.Back == 0 {
		return usagef("%q names no snapshot or message to go back to, expected NAME#K, NAME~2 or NAME@OID", c.Revision)
	}
	opened, err := inv.openFor(&revision.Name)
	if err != nil {
		return err
	}
	workspace, err := opened.sessions.WorkspaceOf(inv.ctx, revision.Name)
	if err != nil {
		return err
	}
	observes, err := opened.trees.Observes(inv.ctx, workspace)
	if err != nil {
		return err
	}
	var done turns.RewindResult
	var tree observe.Rewound
	if observes {
		if err := inv.awaitLinks(opened, revision.Name, workspace); err != nil {
			return err
		}
		tree, err = opened.trees.Rewind(inv.ctx, opened.turns, revision, workspace, c.Yes)
		done = tree.RewindResult
	} else {
		done, err = opened.turns.Rewind(inv.ctx, revision)
	}
	if done.Now.ID != done.Before.ID && !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "To undo: git domarkx rewind %s\n", visible(refname.Argument(done.Before.Name+"@"+oid(done.Before.ID).person)))
	}
	row := rewindRow{sessionRow: sessionRow{done.Now.Name, oidField(done.Now.ID)}, LeftAlone: []leftAloneRow{}}
	for _, f := range tree.LeftAlone {
		row.LeftAlone = append(row.LeftAlone, leftAloneRow(f))
		if !inv.opts.Quiet && len(row.LeftAlone) <= maxLeftAlone {
			fmt.Fprintf(inv.err, "Left as it is: %s (%s)\n", visible(f.Path), f.Reason)
		}
	}
	if more := len(row.LeftAlone) - maxLeftAlone; more > 0 && !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "Left as they are: %d more\n", more)
	}
	var changed *dirversion.ChangedError
	if errors.As(err, &changed) {
		return errors.Join(err, printResult(inv, c.JSON, row))
	}
	if err != nil {
		return err
	}
	if done.Asleep != nil && len(done.Asleep.Brought) > 0 {
		inv.warn(fmt.Errorf("warning: the live workspace is unchanged: %w", done.Asleep))
	} else if done.Asleep != nil && !inv.opts.Quiet {
		fmt.Fprintf(inv.err, "The live workspace is unchanged because %s is not trusted. To rewind it too: git domarkx trust %s\n", visible(done.Now.Name), visible(refname.Argument(done.Now.Name)))
	}
	return printResult(inv, c.JSON, row)
}
