package main

import (
	"errors"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
)

type listCmd struct {
	jsonOption
	Sort     string   `enum:"name,updated,messages" default:"name" placeholder:"KEY" help:"Sort by name (the default), updated (newest first) or messages (most first)."`
	Limit    int      `short:"n" placeholder:"N" help:"List at most N sessions."`
	Tag      string   `placeholder:"TAG" help:"List only sessions with this tag in the tags of their front matter."`
	Agent    string   `placeholder:"AGENT" help:"List only sessions that were imported from this agent: claude-code, codex and so on, as agent list names them."`
	Branch   string   `placeholder:"BRANCH" help:"List only sessions whose agent worked on this Git branch."`
	Patterns []string `arg:"" optional:"" name:"PATTERN" help:"List only sessions whose name matches: as in for-each-ref, a glob, or a name with all below it."`
}

func (listCmd) row() any { return []listRow{} }

type listRow struct {
	Session       string    `json:"session" head:"NAME" doc:"the name of the session"`
	Messages      int       `json:"messages" head:"MESSAGES" doc:"how many messages it has"`
	Updated       timeField `json:"updated" head:"UPDATED" doc:"when its newest snapshot was made"`
	Summary       textField `json:"summary" head:"SUMMARY" show:"preview" doc:"the number of messages and the beginning of the first"`
	OID           oidField  `json:"oid" doc:"the commit of its newest snapshot"`
	Bytes         int64     `json:"bytes" doc:"the size of its Markdown document"`
	Conflicts     int       `json:"conflicts" doc:"how many messages a merge left in conflict"`
	SourceID      string    `json:"source_id,omitempty" doc:"its id in the program that it was imported from"`
	SourceCreated string    `json:"source_created,omitempty" doc:"when it was created, as that program recorded it"`
	SourceUpdated string    `json:"source_updated,omitempty" doc:"when it was changed last, there or here"`
}

func (listCmd) Help() string {
	return `
Lists the sessions.

## Output

    NAME  MESSAGES  UPDATED  SUMMARY

The summary is the number of messages and the beginning of the first. Sessions with a
save that is not in them, and those with conflicts, are named on standard error. Where
there are no sessions, standard error says how to get some.
`
}

func (listCmd) ExitOne() string {
	return "A session cannot be read, and the others are listed; or a save in a mount is not in its session yet."
}

func (c *listCmd) Run(inv *invocation) error {
	inv.patience = mountd.ReportPatience
	opened, err := inv.open()
	if err != nil {
		return err
	}
	sessions := opened.sessions
	list, unread := sessions.List(inv.ctx)
	if list == nil && unread != nil {
		return unread
	}
	inv.mentionDrafts()
	all := len(list)
	list, err = sessions.Select(inv.ctx, list, engine.ListOptions{Patterns: c.Patterns, Tag: c.Tag, Agent: c.Agent, Branch: c.Branch, Sort: c.Sort, Limit: c.Limit})
	if list == nil {
		return err
	}
	unread = errors.Join(unread, err)
	conflicts, err := sessions.Conflicts(inv.ctx, list)
	if err != nil {
		return err
	}
	inv.mentionConflicts(conflicts)
	if err := c.print(inv, sessions, list, conflicts); err != nil {
		return err
	}
	if unread != nil {
		return badInput(inv, []error{unread})
	}
	if all == 0 {
		inv.hintNoSessions(opened)
	}
	if inv.reportPending() {
		return errNo
	}
	if mounts, err := inv.mounts(); err == nil {
		mounts.WarnOfSilent(inv.ctx)
	}
	return nil
}

func (c *listCmd) print(inv *invocation, sessions *engine.SessionManager, list []domarkx.Info, conflicts map[string]int) error {
	identities := map[string]format.Identity{}
	if c.JSON {
		identities = sessions.Identities(inv.ctx, list)
	}
	rows := make([]listRow, len(list))
	for n, i := range list {
		id := identities[i.Name]
		rows[n] = listRow{Session: i.Name, Messages: i.Messages, Updated: timeField(i.Date), Summary: textField(i.Summary()), OID: oidField(i.ID), Bytes: i.Bytes, Conflicts: conflicts[i.Name],
			SourceID: id.SessionID, SourceCreated: id.CreatedAt, SourceUpdated: id.UpdatedAt}
	}
	return printResults(inv, c.JSON, rows)
}
