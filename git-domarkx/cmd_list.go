package main

import (
	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type listCmd struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

func (listCmd) Help() string {
	return `
Lists all sessions by name.

## Output

    NAME  MESSAGES  UPDATED  SUMMARY

The summary is the number of messages and the beginning of the first. The objects of
--json have the members name, messages, updated, summary, oid, bytes (of the document
as Markdown) and conflicts (how many merges left), and those of agent-chatter's lists:
messageCount, and where the session has them sessionId, createdAt and updatedAt. Sessions
with a save that is not in them, and those with conflicts, are named on standard error; on
a terminal the table has a column CONFLICTS when there are any. Where there are no
sessions, standard error says how to get some.
`
}

// ExitOne says what exit status 1 means.
func (listCmd) ExitOne() string {
	return "A session cannot be read, and the others are listed; or a save in a mount is not in its session yet."
}

// Run lists the sessions.
func (c *listCmd) Run(inv *invocation) error {
	inv.patience = reportPatience
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
	if len(list) == 0 {
		inv.hintNoSessions(opened)
	}
	if inv.reportPending() {
		return errNo
	}
	inv.warnOfMounts()
	return nil
}

func (c *listCmd) print(inv *invocation, sessions *engine.SessionManager, list []domarkx.Info, conflicts map[string]int) error {
	if c.JSON {
		identities := sessions.Identities(inv.ctx, list)
		return writeJSON(inv.out, list, func(i domarkx.Info) []domarkx.Member {
			members := []domarkx.Member{jsonText("name", i.Name), jsonNumber("messages", int64(i.Messages)),
				jsonDate("updated", i.Date), jsonText("summary", i.Summary()), jsonText("oid", i.ID), jsonNumber("bytes", i.Bytes),
				jsonNumber("conflicts", int64(conflicts[i.Name]))}
			id := identities[i.Name]
			for _, m := range []domarkx.Member{jsonText("sessionId", id.SessionID), jsonText("createdAt", id.CreatedAt), jsonText("updatedAt", id.UpdatedAt)} {
				if m.Value.Text() != "" {
					members = append(members, m)
				}
			}
			return append(members, jsonNumber("messageCount", int64(i.Messages)))
		})
	}
	head := []string{"NAME", "MESSAGES", "UPDATED", "SUMMARY"}
	marks := inv.out.tty && len(conflicts) > 0
	if marks {
		head = []string{"NAME", "MESSAGES", "CONFLICTS", "UPDATED", "SUMMARY"}
	}
	t := newTable(head...)
	for _, i := range list {
		cells := []cell{text(i.Name), number(i.Messages)}
		if marks {
			cells = append(cells, number(conflicts[i.Name]))
		}
		t.add(append(cells, date(i.Date), text(i.Summary()))...)
	}
	return t.write(inv)
}
