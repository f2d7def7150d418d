package main

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type redactCmd struct {
	jsonOption
	DryRun bool     `name:"dry-run" help:"Only say what would be redacted."`
	Drop   []string `name:"drop" placeholder:"RESOURCE" help:"Drop the content of this resource, or of the attachment with this SHA-256, where it holds secrets that cannot be edited."`
	Purge  bool     `help:"Remove what was replaced, now or before, from the trash and from this repository."`
	Name   string   `arg:"" name:"NAME" help:"The session."`
}

func (redactCmd) row() any { return []redactRow{} }

// A redactRow is a session or workspace whose history is redacted.
type redactRow struct {
	Kind   string `json:"kind" head:"KIND" doc:"session or workspace"`
	Name   string `json:"name" head:"NAME" doc:"its name"`
	Status string `json:"status" head:"STATUS" doc:"what became of it: redacted, would be redacted, refused or unchanged"`
}

func (redactCmd) Help() string {
	return `
Replaces the secrets that "git domarkx scan" finds by [REDACTED:RULE:N], in every snapshot of the session, and in every
session and workspace that shares its history; these are listed first. N is the order of the first occurrence of that secret, so
that every machine makes the same text. A secret of 8 bytes or more is replaced wherever it occurs.

Messages keep their ids, authors and dates; links, merges, exports and workspaces work as before. What cannot be edited is
listed, and then nothing is changed: objects of repositories in a workspace, databases, images, files of more than 16 MiB, and names of
files and directories in a workspace. What scan does not read, such as the metadata of a picture, stays as it is. With --drop RESOURCE the content of that resource is dropped from the versions that have it;
a database has then what it had in its last version without a secret.

What was replaced stays in the trash of this machine: "git domarkx restore --redacted NAME" brings it back until "git domarkx gc"
empties the trash. --purge removes it at once, together with its objects, also from packs; what refs, reflogs, the index or commits of
yours have stays, and what a live workspace needs until its next call: purge again then. Do not purge a repository from which others borrow
objects (git clone --shared). Push refuses
a history that holds what was replaced. The next push replaces what the remote has; who pulls then gets the redacted history, with what they added on top of it.

From then on the messages that append, chat, exec, run, import and agent watch add are stored redacted, with the numbers that
this machine knows; the calls of a model are made as they are recorded. What you write yourself with edit or in a mount, and the files of new workspace versions, are stored as they
are; push looks for secrets in them. A live workspace goes on from the redacted version with its next call.

Texts that could not be saved, and what killed commands left, are redacted too. While a running mount has such a text,
nothing is redacted: correct it, or unmount first, which keeps it.

A session whose name holds a secret gets another name first, and the next push removes the former one from the remote. For that, the record of
renames on this machine (.git/domarkx/renamed.json) keeps it.

Change the secret too. Whoever had it may have kept it, and a host keeps replaced objects for a while: ask its
support to remove them.

## Output

    KIND  NAME  STATUS

STATUS is redacted, would be redacted (--dry-run), refused, or unchanged (without a secret).
`
}

func (redactCmd) ExitOne() string {
	return "There are secrets where nothing can be edited; nothing was changed."
}

func (c *redactCmd) Run(inv *invocation) error {
	opened, err := inv.open()
	if err != nil {
		return err
	}
	w := newResultWriter[redactRow](inv, c.JSON)
	var shown error
	show := func(r redact.Result) {
		status := "redacted"
		switch {
		case len(r.Stuck) > 0:
			status = "refused"
		case r.Replaced == 0:
			status = "unchanged"
		case c.DryRun:
			status = "would be redacted"
		}
		for _, s := range r.Shared {
			kind := s.Kind
			if s.Removed {
				kind += " in the trash"
			}
			shown = errors.Join(shown, w.add(redactRow{kind, s.Name, status}))
		}
	}
	if err := c.rename(inv, opened); err != nil {
		return errors.Join(err, w.end())
	}
	result, err := opened.redactions.Redact(inv.ctx, redact.Request{Name: c.Name, DryRun: c.DryRun, Drop: c.Drop, Purge: c.Purge, Show: show})
	if err = errors.Join(shown, w.end(), err); err != nil {
		return err
	}
	return c.report(inv, result)
}

// rename renames the sessions whose names contain secrets.
func (c *redactCmd) rename(inv *invocation, opened managers) error {
	renamings, err := opened.redactions.Renamings(inv.ctx, c.Name)
	if err != nil {
		return err
	}
	for _, r := range renamings {
		if c.DryRun {
			fmt.Fprintf(inv.err, "a session's name holds a secret; it would be renamed to %s\n", visible(r.To))
			continue
		}
		if _, err := opened.turns.Rename(inv.ctx, r.From, r.To); err != nil {
			return fmt.Errorf("renaming a session whose name contains a secret: %w", err)
		}
		fmt.Fprintf(inv.err, "a session's name held a secret; it is now %s\n", visible(r.To))
		if r.From == c.Name {
			c.Name = r.To
		}
	}
	return nil
}

// report prints the result and the next steps.
func (c *redactCmd) report(inv *invocation, r redact.Result) error {
	for _, s := range r.Stuck {
		what := "holds a secret"
		if s.Rule == secrets.NotReadable {
			what = "may hold a secret"
		}
		fmt.Fprintf(inv.err, "%s %s (%s) and cannot be edited; --drop %s drops its content\n", visibleLine(s.Where), what, s.Rule, visibleLine(s.Drop))
	}
	switch {
	case len(r.Stuck) > 0:
		printError(inv.err, errors.New("nothing was redacted, as some secrets cannot be edited"))
		return errNo
	case inv.opts.Quiet:
	case r.Replaced == 0:
		fmt.Fprintln(inv.err, "no secrets found")
		c.reportPurged(inv, r)
	case c.DryRun:
		fmt.Fprintf(inv.err, "%s in %s would be redacted\n", countOf(r.Secrets, "secret"), countOf(r.Replaced, "commit"))
	default:
		for _, ref := range r.Elsewhere {
			fmt.Fprintf(inv.err, "warning: %s still leads to replaced commits; git update-ref -d %s removes it\n", visibleLine(ref), visibleLine(ref))
		}
		fmt.Fprintf(inv.err, "redacted %s in %s\n", countOf(r.Secrets, "secret"), countOf(r.Replaced, "commit"))
		c.reportPurged(inv, r)
		if len(r.Kept) > 0 {
			fmt.Fprintf(inv.err, "undo: git domarkx restore --redacted %s\n", visible(refname.Argument(c.Name)))
		}
		fmt.Fprintln(inv.err, "Change the secret: others may have it, and hosts keep replaced objects for a while. The next push replaces what the remote has.")
	}
	return nil
}

// reportPurged prints what --purge removed.
func (c *redactCmd) reportPurged(inv *invocation, r redact.Result) {
	if !c.Purge || c.DryRun {
		return
	}
	fmt.Fprintf(inv.err, "removed %d objects that were replaced\n", r.Purged.Removed)
	if r.Purged.Missed > 0 {
		fmt.Fprintf(inv.err, "%d objects are still there: they are in packs that are kept, in another repository, or were written again\n", r.Purged.Missed)
	}
	for _, pack := range r.Purged.Left {
		fmt.Fprintf(inv.err, "the pack %s has a .keep or .promisor file and stays\n", pack)
	}
}

// countOf returns a number and a noun in the singular or plural.
func countOf(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
