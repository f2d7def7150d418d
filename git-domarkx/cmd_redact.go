package main

import (
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/secrets"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type redactCmd struct {
	rowsOption[redactRow]
	DryRun bool     `name:"dry-run" help:"Only say what would be redacted."`
	Drop   []string `name:"drop" placeholder:"RESOURCE" help:"Drop the content of this resource, or of the attachment with this SHA-256, where it holds secrets that cannot be edited."`
	Purge  bool     `help:"Remove what was replaced, now or before, from the trash and from this repository."`
	Name   string   `arg:"" name:"NAME" help:"The session."`
}

// A redactRow is a session or workspace whose history is redacted.
type redactRow struct {
	Kind   string `json:"kind" head:"KIND" doc:"session or workspace"`
	Name   string `json:"name" head:"NAME" doc:"its name"`
	Status string `json:"status" head:"STATUS" doc:"what became of it: redacted, would be redacted, refused or unchanged"`
}

func (c *redactCmd) Run(inv *invocation, opened managers) error {
	w := newResultWriter[redactRow](inv, c.JSON)
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
			_ = w.add(redactRow{kind, s.Name, status})
		}
	}
	if err := c.rename(inv, opened); err != nil {
		return errors.Join(err, w.end())
	}
	result, err := opened.redactions.Redact(inv.ctx, redact.Request{Name: c.Name, DryRun: c.DryRun, Drop: c.Drop, Purge: c.Purge, Show: show})
	if err = errors.Join(w.end(), err); err != nil {
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
		fmt.Fprintf(inv.err, "%s in %s would be redacted\n", html.Count(r.Secrets, "secret"), html.Count(r.Replaced, "commit"))
	default:
		for _, ref := range r.Elsewhere {
			fmt.Fprintf(inv.err, "warning: %s still leads to replaced commits; git update-ref -d %s removes it\n", visibleLine(ref), visibleLine(ref))
		}
		fmt.Fprintf(inv.err, "redacted %s in %s\n", html.Count(r.Secrets, "secret"), html.Count(r.Replaced, "commit"))
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
