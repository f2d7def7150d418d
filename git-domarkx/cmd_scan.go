package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

type scanCmd struct {
	rowsOption[secretRow]
	All    bool     `help:"On a terminal, list all places of each secret, not only the first."`
	Allow  []string `placeholder:"FINGERPRINT" help:"Do not report this secret any more, on this machine."`
	Revoke []string `placeholder:"FINGERPRINT" help:"Report a secret again that was allowed."`
	Names  []string `arg:"" optional:"" name:"NAME" help:"Scan only these sessions: as in list, a name, a glob, or a name with all below it."`
}

type secretRow struct {
	Place       string `json:"-" head:"NAME#K"`
	Session     string `json:"session" doc:"the name of the session"`
	Index       *int   `json:"index,omitempty" doc:"the K of NAME#K; none if the secret is elsewhere in the session"`
	Message     string `json:"message,omitempty" doc:"the id of the message"`
	Rule        string `json:"rule" head:"RULE" doc:"the rule that found it"`
	Where       string `json:"where" head:"WHERE" doc:"where it is: text, tool-call, original, a file of a workspace version, …"`
	Masked      string `json:"masked" head:"MASKED" doc:"the beginning that all secrets of the kind have, and asterisks"`
	Key         string `json:"key" doc:"the name that the secret is assigned to there, such as OPENAI_API_KEY; empty if there is none"`
	Fingerprint string `json:"fingerprint" head:"FINGERPRINT" doc:"identifies the secret on this machine; equal for equal secrets"`
	Commit      string `json:"commit" doc:"the newest snapshot or workspace version that has it"`
}

func (c *scanCmd) Run(inv *invocation, opened managers) error {
	if len(c.Allow)+len(c.Revoke) > 0 {
		if len(c.Names) > 0 {
			return usagef("--allow and --revoke take fingerprints, and no NAME")
		}
		if err := opened.scans.Allow(inv.ctx, c.Allow, true); err != nil {
			return badValue("--allow", err)
		}
		return badValue("--revoke", opened.scans.Allow(inv.ctx, c.Revoke, false))
	}
	found, allowed, unread := c.findings(inv, opened)
	if unread != nil && len(found) == 0 {
		return unread
	}
	if err := c.show(inv, found); err != nil {
		return err
	}
	if allowed > 0 {
		if err := inv.out.Flush(); err != nil {
			return err
		}
		inv.notice(counted(allowed, "finding") + " not shown: allowed on this machine")
	}
	if unread != nil { // the findings are already printed
		return unread
	}
	if len(found) > 0 {
		return errNo
	}
	inv.allIsWell("scan: no secrets found")
	return nil
}

// show prints a row for each finding; on a terminal, an entry for each secret.
func (c *scanCmd) show(inv *invocation, found []scan.Finding) error {
	if inv.out.tty && !c.JSON {
		return inv.paged(func() error { return secretTable(found, c.All).write(inv) })
	}
	return c.print(inv, mapped(found, func(f scan.Finding) secretRow {
		row := secretRow{Place: secretPlace(f), Session: f.Session, Rule: f.Rule, Where: f.Where, Masked: f.Masked, Key: f.Key, Fingerprint: f.Fingerprint, Commit: f.Commit}
		if !c.JSON || f.Message < 0 {
			return row
		}
		row.Index = &f.Message
		if e, err := inv.opened.store.Entry(inv.ctx, f.Commit, f.Message); err == nil {
			row.Message = e.ID.String()
		}
		return row
	}))
}

// findings scans the chosen sessions, or without names all sessions and the workspaces that belong to none. It also returns how
// many more findings there are that the user has allowed.
func (c *scanCmd) findings(inv *invocation, opened managers) ([]scan.Finding, int, error) {
	all, unlisted := opened.sessions.List(inv.ctx)
	if all == nil && unlisted != nil {
		return nil, 0, unlisted
	}
	selected, err := inv.selected(all, c.Names)
	if err != nil {
		return nil, 0, err
	}
	names := mapped(selected, nameOf)
	outgoing, err := opened.remotes.Outgoing(inv.ctx, names)
	if err != nil {
		return nil, 0, err
	}
	if len(c.Names) == 0 {
		if names, err = withOtherWorkspaces(inv, opened, names, outgoing); err != nil {
			return nil, 0, err
		}
	}
	progress := inv.progress()
	defer progress.finish()
	var found []scan.Finding
	var unread []error
	for _, name := range names {
		list, err := opened.scans.Session(inv.ctx, outgoing[name], func(done, total int) { progress.report("scanning "+visibleLine(name), int64(done), int64(total)) })
		if inv.ctx.Err() != nil {
			return nil, 0, err
		}
		if err != nil {
			unread = append(unread, fmt.Errorf("scan %s: %w", name, err))
		}
		found = append(found, list...)
	}
	shown, err := opened.scans.Without(inv.ctx, found)
	return shown, len(found) - len(shown), errors.Join(append(unread, err)...)
}

// withOtherWorkspaces adds the workspaces that belong to no session to names and outgoing, and returns names.
func withOtherWorkspaces(inv *invocation, opened managers, names []string, outgoing map[string]transfer.Outgoing) ([]string, error) {
	workspaces, err := opened.store.Workspaces(inv.ctx)
	if err != nil && workspaces == nil {
		return nil, err
	}
	taken := map[string]bool{}
	for _, out := range outgoing {
		for _, id := range out.Tips[1:] {
			taken[id] = true
		}
	}
	for _, w := range workspaces {
		if _, ok := outgoing[w.Workspace]; !ok && !taken[w.ID] {
			names, outgoing[w.Workspace] = append(names, w.Workspace), transfer.Outgoing{Session: w.Workspace, Tips: []string{w.ID}}
		}
	}
	return names, nil
}

// secretPlace returns NAME#K, or NAME for a finding that is in no message.
func secretPlace(f scan.Finding) string {
	if f.Message < 0 {
		return f.Session
	}
	return f.Session + "#" + strconv.Itoa(f.Message)
}
