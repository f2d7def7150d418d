package main

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type pullCmd struct {
	exchangeOption
	AcceptRedaction bool `name:"accept-redaction" help:"Take a redacted history also where it differs from yours in more than secrets."`
}

func (c *pullCmd) Run(inv *invocation, opened managers) error {
	remote, names, err := c.where(inv)
	if err != nil {
		return err
	}
	before, err := opened.sessions.Attached(inv.ctx)
	if err != nil {
		return err
	}
	progress, finish := inv.fetchProgress()
	results, err := opened.remotes.Pull(inv.ctx, transfer.PullRequest{Remote: remote, Names: names, AcceptRedaction: c.AcceptRedaction}, progress)
	finish()
	inv.mentionRedacted(results)
	return errors.Join(c.printExchange(inv, results, err), inv.mentionMerged(opened.sessions, results), inv.mentionAttached(opened.sessions, before))
}

// mentionRedacted reports which sessions were replaced by redacted ones, and how to undo that; and in which versions expired.
func (inv *invocation) mentionRedacted(results []transfer.Result) {
	for _, r := range results {
		if r.Expired {
			inv.say("%s: the files of old versions expired at the remote, and now here; git domarkx gc --expire-versions=WHEN frees the disk, and so does git gc in time", r.Name)
		}
		if r.Redacted {
			inv.say("%s was redacted at the remote, and now here; undo: git domarkx restore --redacted %s", r.Name, refname.Argument(r.Name))
		}
	}
}

// mentionAttached reports which sessions use another workspace than before.
func (inv *invocation) mentionAttached(sessions *engine.SessionManager, before map[string]string) error {
	now, err := sessions.Attached(inv.ctx)
	if err != nil {
		return err
	}
	names := maps.Clone(before)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if workspace := cmp.Or(now[name], name); workspace != cmp.Or(before[name], name) {
			inv.say("%s now uses the workspace %s, which its last calls ran in.", name, workspace)
		}
	}
	return nil
}
