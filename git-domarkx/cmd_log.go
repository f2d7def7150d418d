package main

import (
	"iter"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type logCmd struct {
	JSON     bool   `name:"json" help:"Print a JSON array."`
	Messages bool   `help:"List the messages of the snapshot instead."`
	Revision string `arg:"" name:"NAME" help:"A session, NAME~2 or NAME@OID."`
}

func (logCmd) Help() string {
	return `
Lists the snapshots of a session, newest first, or the messages of a snapshot. Ordinary
Git does it too: "git log --first-parent refs/domarkx/sessions/NAME".

## Output

    OID  DATE  MESSAGES  SUBJECT

With --messages, K being what NAME#K takes:

    K  ROLE  DATE  WORKSPACE_OID  FIRST LINE

The objects of --json have the members oid, date, messages and subject; with --messages
k, role, date, workspace_oid and first_line.
`
}

// Run lists snapshots or messages.
func (c *logCmd) Run(inv *invocation) error {
	revision, err := engine.ParseRevision(c.Revision)
	if err != nil {
		return err
	}
	sessions, err := inv.sessions()
	if err != nil {
		return err
	}
	if c.Messages {
		return c.messages(inv, sessions.Messages(inv.ctx, revision))
	}
	return c.snapshots(inv, sessions.Log(inv.ctx, revision))
}

func (c *logCmd) snapshots(inv *invocation, log iter.Seq2[domarkx.Info, error]) error {
	list, err := collect(log)
	if err != nil {
		return err
	}
	if err := inv.page(); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(inv.out, list, func(i domarkx.Info) []domarkx.Member {
			return []domarkx.Member{jsonText("oid", i.ID), jsonDate("date", i.Date), jsonNumber("messages", int64(i.Messages)), jsonText("subject", i.Subject)}
		})
	}
	t := newTable("SNAPSHOT", "DATE", "MESSAGES", "SUBJECT")
	for _, i := range list {
		t.add(oid(i.ID), date(i.Date), number(i.Messages), text(i.Subject))
	}
	return t.write(inv)
}

// messages prints the messages as they come: there may be a million.
func (c *logCmd) messages(inv *invocation, log iter.Seq2[engine.MessageInfo, error]) error {
	inv.opened.store.BoundMemory(packMemory)
	list := c.messageList(inv)
	begun := false
	for m, err := range log {
		if err != nil {
			return err
		}
		if !begun {
			if err := inv.page(); err != nil {
				return err
			}
			begun = true
		}
		if err := list.add(m); err != nil {
			return err
		}
	}
	return list.end()
}

// A messageList prints messages one by one.
type messageList interface {
	add(m engine.MessageInfo) error
	end() error
}

func (c *logCmd) messageList(inv *invocation) messageList {
	if c.JSON {
		return &jsonMessages{out: inv.out}
	}
	return &tableOfMessages{inv: inv, table: newTable("K", "ROLE", "DATE", "WORKSPACE", "FIRST LINE")}
}

type jsonMessages struct {
	out  *output
	some bool
}

func (l *jsonMessages) add(m engine.MessageInfo) error {
	before := ",\n  "
	if !l.some {
		l.some, before = true, "[\n  "
	}
	object := domarkx.ObjectValue(jsonNumber("k", int64(m.K)), jsonText("role", string(m.Role)), jsonDate("date", m.Date),
		jsonText("workspace_oid", m.Link), jsonText("first_line", m.FirstLine))
	_, err := l.out.Write(escapeControls(object.AppendJSON([]byte(before), "  ", "  ")))
	return err
}

func (l *jsonMessages) end() error {
	after := "\n]\n"
	if !l.some {
		after = "[]\n"
	}
	_, err := l.out.WriteString(after)
	return err
}

// messagesAligned is how many lines are aligned with each other.
const messagesAligned = 1000

type tableOfMessages struct {
	inv   *invocation
	table *table
}

func (l *tableOfMessages) add(m engine.MessageInfo) error {
	l.table.add(number(m.K), text(string(m.Role)), date(m.Date), oid(m.Link), text(m.FirstLine))
	if len(l.table.rows) < messagesAligned {
		return nil
	}
	return l.end()
}

func (l *tableOfMessages) end() error {
	err := l.table.write(l.inv)
	l.table = newTable()
	l.table.widths = []int{0, len("assistant"), 0, len("WORKSPACE")}
	return err
}

func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var list []T
	for v, err := range seq {
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}
