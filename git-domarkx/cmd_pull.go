package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type pullCmd struct {
	exchangeOption
	AcceptRedaction bool `name:"accept-redaction" help:"Take a redacted history also where it differs from yours in more than secrets."`

	Remote string   `arg:"" optional:"" name:"REMOTE" help:"A remote or URL of Git; domarkx.remote, else the only one, else origin."`
	Names  []string `arg:"" optional:"" name:"NAME" help:"The sessions."`
}

func (pullCmd) Help() string {
	return `
Fetches and then brings your sessions up to date: those that are new come, those that only
moved there move here, and those that both sides changed are merged. Merging never loses
a message: messages added on both sides are all there, and one that was changed on both
sides is there in both texts, marked in message_metadata.conflict. Both sides that pull
make the same commit. To resolve such a conflict, edit the session: leave one text of the
message, without its mark ("conflict" in its message-metadata).

Workspaces come with their sessions. They are not merged: when both sides ran calls, the
next version follows both and holds what the last linked message of the session left.
What is live on this machine stays as it is until the next call, which commits first, and
asks before it brings nested repositories by which Git would run programs to the work tree. A
session whose last calls were made elsewhere in a workspace that does not have its name
("git domarkx workspace attach") works in that one here too, when the same pull brought
it. A workspace that was here before is yours to share, and what you attached stays: then,
or where it cannot be told which workspace it is, attach the session yourself.

Where the remote has a redacted history ("git domarkx redact"), yours is replaced by it after a check that it is the same but for
secrets: the same messages in the same snapshots, with placeholders only where this machine finds secrets too. What only
you have is redacted and put on top; the command that undoes it is printed. Otherwise the session is
refused, and nothing changes here, unless --accept-redaction says so.

A session that was removed there and not changed here goes to the trash, with its
workspace.

What comes is verified first: every digest, size and number that the remote's objects
record. A session with anything wrong is rejected and stays here as it is; the others
come. With NAMEs only those sessions are fetched, with their workspaces: those of the
same names, those you attached them to, and those whose newest version one of their
messages is linked to.

## Output

    NAME  STATUS

One line for each session. STATUS is new, updated, merged, conflict (merged, and there are
messages that both sides changed; how many is said on standard error), ahead (there is
more here), up to date, refused (see above), or says what became of a removed session.
`
}

func (pullCmd) ExitOne() string {
	return "A session was rejected, and its line says why; or a merge left a conflict."
}

func (c *pullCmd) Run(inv *invocation) error {
	opened, err := inv.open()
	if err != nil {
		return err
	}
	remote, names, err := inv.remoteAndNames(c.Remote, c.Names)
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
		if r.Expired && !inv.opts.Quiet {
			fmt.Fprintf(inv.err, "%s: the files of old versions expired at the remote, and now here; git domarkx gc --expire-versions=WHEN frees the disk, and so does git gc in time\n", visible(r.Name))
		}
		if r.Redacted && !inv.opts.Quiet {
			fmt.Fprintf(inv.err, "%s was redacted at the remote, and now here; undo: git domarkx restore --redacted %s\n", visible(r.Name), visible(refname.Argument(r.Name)))
		}
	}
}

// mentionAttached reports which sessions use another workspace than before.
func (inv *invocation) mentionAttached(sessions *engine.SessionManager, before map[string]string) error {
	now, err := sessions.Attached(inv.ctx)
	if err != nil || inv.opts.Quiet {
		return err
	}
	names := maps.Clone(before)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if workspace := cmp.Or(now[name], name); workspace != cmp.Or(before[name], name) {
			fmt.Fprintf(inv.err, "%s now uses the workspace %s, which its last calls ran in.\n", visible(name), visible(workspace))
		}
	}
	return nil
}
