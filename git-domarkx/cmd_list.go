package main

import (
	"errors"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
	"github.com/domarkx/domarkx/git-domarkx/find/usage"
	"github.com/domarkx/domarkx/git-domarkx/mountd"
	"github.com/domarkx/domarkx/gitstore/refname"
)

type listCmd struct {
	rowsOption[listRow]
	Sort     string   `enum:"name,activity,created,messages" default:"activity" placeholder:"KEY" help:"Sort by name, activity (the default, newest first), created (newest first) or messages (most first)."`
	Limit    int      `short:"n" placeholder:"N" help:"List at most N sessions."`
	Tag      string   `placeholder:"TAG" help:"List only sessions with this tag in the tags of their front matter."`
	Agent    string   `placeholder:"AGENT" help:"List only sessions that were imported from this agent: claude-code, codex and so on, as agent list names them."`
	Branch   string   `placeholder:"BRANCH" help:"List only sessions whose agent worked on this Git branch."`
	Patterns []string `arg:"" optional:"" name:"PATTERN" help:"List only sessions whose name matches: a name, one with all below it, or a glob, in which * matches slashes, too."`
}

type listRow struct {
	aboutRow
	Session   string    `json:"session" doc:"the same as name"`
	Updated   timeField `json:"updated" doc:"the same as imported_at"`
	OID       oidField  `json:"oid" doc:"the commit of its newest snapshot"`
	Bytes     int64     `json:"bytes" doc:"the size of its Markdown document"`
	Conflicts int       `json:"conflicts" doc:"how many messages a merge left in conflict"`
	sourceRow
}

// An aboutRow is what people want to know of a session.
type aboutRow struct {
	Name     string    `json:"name" head:"NAME" show:"name" doc:"the name of the session"`
	Title    string    `json:"title" head:"TITLE" show:"preview" doc:"the title that its agent or front matter gives, else the first words of the first prompt that says something"`
	Agent    string    `json:"agent" head:"AGENT" doc:"the program that it was imported from; empty if it was not"`
	Branch   string    `json:"branch" doc:"the last Git branch on which its agent worked"`
	Tags     []string  `json:"tags" doc:"the tags in its front matter"`
	Messages int       `json:"messages" head:"MESSAGES" doc:"how many messages it has"`
	Started  timeField `json:"started_at" doc:"the time of its first message"`
	Active   timeField `json:"active_at" head:"ACTIVITY" doc:"the time of its last message, as its agent recorded it, else of the snapshot that brought it"`
	Imported timeField `json:"imported_at" doc:"when its newest snapshot was made"`
	Tokens   int64     `json:"tokens" doc:"how many tokens of input, cached or not, and of output its responses used"`
}

// A sourceRow is what the program that a session was imported from says of it.
type sourceRow struct {
	SourceID      string `json:"source_id,omitempty" doc:"its id in the program that it was imported from"`
	SourceCreated string `json:"source_created,omitempty" doc:"when it was created, as that program recorded it"`
	SourceUpdated string `json:"source_updated,omitempty" doc:"when it was changed last, there or here"`
}

func (c *listCmd) prepare(inv *invocation) error {
	inv.patience = mountd.ReportPatience
	return nil
}

func (c *listCmd) Run(inv *invocation, opened managers) error {
	all, unread := opened.sessions.ListAbout(inv.ctx)
	if all == nil && unread != nil {
		return unread
	}
	inv.mentionDrafts()
	list, err := opened.picker().Select(inv.ctx, all, pick.Options{Patterns: c.Patterns, Tag: c.Tag, Agent: c.Agent, Branch: c.Branch, Sort: c.Sort, Limit: c.Limit})
	if list == nil {
		return err
	}
	unread = errors.Join(unread, err)
	conflicts, err := opened.sessions.Conflicts(inv.ctx, list)
	if err != nil {
		return err
	}
	inv.mentionConflicts(conflicts)
	if err := c.printAll(inv, c.rowsOf(inv, opened, list, all, conflicts), unread); err != nil {
		return err
	}
	switch {
	case len(all) == 0:
		inv.hintNoSessions(opened)
	case len(list) == 0:
		inv.notice(visibleLine("no session matches" + c.filter()))
	}
	if inv.reportPending() {
		return errNo
	}
	if mounts, err := inv.mounts(); err == nil {
		mounts.WarnOfSilent(inv.ctx)
	}
	return nil
}

// filter returns what the user asked for, as typed.
func (c *listCmd) filter() string {
	var b strings.Builder
	for _, option := range [][2]string{{"tag", c.Tag}, {"agent", c.Agent}, {"branch", c.Branch}} {
		if option[1] != "" {
			b.WriteString(" --" + option[0] + " " + refname.Argument(option[1]))
		}
	}
	for _, pattern := range c.Patterns {
		b.WriteString(" " + refname.Argument(pattern))
	}
	return b.String()
}

func (c *listCmd) rowsOf(inv *invocation, opened managers, list, all []domarkx.Info, conflicts map[string]int) []listRow {
	tokens := map[string]int64{}
	if c.JSON {
		reader := usage.Reader{Store: opened.store, Agent: opened.sessions.Agent, Dir: opened.store.StateDir()}
		var err error
		if tokens, err = reader.Tokens(inv.ctx, list, all); err != nil {
			inv.warn(err)
		}
	}
	return mapped(list, func(i domarkx.Info) listRow {
		about := i.Described()
		return listRow{
			aboutRow: aboutRow{Name: i.Name, Title: about.Title, Agent: about.Agent, Branch: about.Branch, Tags: about.Tags, Messages: i.Messages,
				Started: timeField(about.Started), Active: timeField(about.Active), Imported: timeField(i.Date), Tokens: tokens[i.ID]},
			Session: i.Name, Updated: timeField(i.Date), OID: oidField(i.ID), Bytes: i.Bytes, Conflicts: conflicts[i.Name],
			sourceRow: sourceRow{about.SourceID, about.SourceCreated, about.SourceUpdated}}
	})
}
