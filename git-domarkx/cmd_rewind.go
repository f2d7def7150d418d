package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/agents/observe"
	"github.com/domarkx/domarkx/git-domarkx/agents/recording"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/plugins/dirversion"
)

type rewindCmd struct {
	rowOption[rewindRow]
	Yes      bool        `help:"Take a work tree back even while an agent works in it."`
	Revision revisionArg `arg:"" name:"NAME#K" of:"session" help:"The last message to keep, or a snapshot: NAME~2, NAME@OID."`
}

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

// maxLeftAlone is the number of files left alone that the text names.
const maxLeftAlone = 100

func (c *rewindCmd) prepare(*invocation) error {
	if r := c.Revision; r.Message < 0 && r.ID == "" && r.Back == 0 {
		return usagef("%q names no snapshot or message to go back to, expected NAME#K, NAME~2 or NAME@OID", r.typed)
	}
	return nil
}

func (c *rewindCmd) Run(inv *invocation, opened managers) error {
	revision := c.Revision.Revision
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
	if done.Now.ID != done.Before.ID {
		inv.say("To undo: git domarkx rewind %s", refname.Argument(done.Before.Name+"@"+oid(done.Before.ID).person))
	}
	row := rewindRow{sessionRow: sessionRow{done.Now.Name, oidField(done.Now.ID)}, LeftAlone: []leftAloneRow{}}
	for _, f := range tree.LeftAlone {
		row.LeftAlone = append(row.LeftAlone, leftAloneRow(f))
		if len(row.LeftAlone) <= maxLeftAlone {
			inv.say("Left as it is: %s (%s)", f.Path, f.Reason)
		}
	}
	if more := len(row.LeftAlone) - maxLeftAlone; more > 0 {
		inv.say("Left as they are: %d more", more)
	}
	if is[*dirversion.ChangedError](err) {
		return errors.Join(err, c.print(inv, row))
	}
	if err != nil {
		return err
	}
	if done.Asleep != nil && len(done.Asleep.Brought) > 0 {
		inv.warn(fmt.Errorf("warning: the live workspace is unchanged: %w", done.Asleep))
	} else if done.Asleep != nil {
		inv.say("The live workspace is unchanged because %s is not trusted. To rewind it too: git domarkx trust %s", done.Now.Name, refname.Argument(done.Now.Name))
	}
	return c.print(inv, row)
}

// longestLinks is how long a command waits for the links of what an agent has just done.
const longestLinks = 5 * time.Second

// awaitLinks waits until the watcher has heard all hooks, and the versions that it took are linked to their
// messages. Without a watcher, no links are on their way.
func (inv *invocation) awaitLinks(opened managers, name, workspace string) error {
	dir := recording.Dir(opened.git.CommonDir)
	ctx, cancel := context.WithTimeout(inv.ctx, longestLinks)
	defer cancel()
	for {
		if _, running := recording.Running(dir); !running {
			return nil
		}
		waiting := recording.Unheard(dir)
		if !waiting {
			var err error
			if waiting, err = opened.trees.Waiting(ctx, name, workspace); err != nil && ctx.Err() == nil {
				return err
			}
		}
		if !waiting && ctx.Err() == nil {
			return nil
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			if inv.ctx.Err() != nil {
				return context.Cause(inv.ctx)
			}
			inv.warn(errors.New("warning: what the agent did last is not linked to its messages yet; if the files are not those of that message, repeat this later"))
			return nil
		}
	}
}
