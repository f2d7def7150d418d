package main

import (
	"errors"
	"iter"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

type logCmd struct {
	jsonOption
	Messages bool        `help:"List the messages of the snapshot instead."`
	Number   int         `short:"n" name:"number" placeholder:"N" help:"List at most N snapshots, or messages."`
	Patch    bool        `short:"p" help:"Show what each snapshot changed, as diff does."`
	Revision revisionArg `arg:"" name:"NAME" of:"session" help:"A session, NAME~2 or NAME@OID."`
}

func (logCmd) row() any { return rowAlternatives{[]snapshotRow{}, []messageRow{}} }

type snapshotRow struct {
	OID      oidField  `json:"oid" head:"SNAPSHOT" doc:"the commit of the snapshot"`
	Date     timeField `json:"date" head:"DATE" doc:"when it was made"`
	Messages int       `json:"messages" head:"MESSAGES" doc:"how many messages it has"`
	Subject  string    `json:"subject" head:"SUBJECT" show:"preview" doc:"the subject of the commit"`
}

type messageRow struct {
	Index     int       `json:"index" head:"K" show:"index" doc:"the K of NAME#K (with --messages)"`
	Role      string    `json:"role" head:"ROLE" doc:"user or assistant (with --messages)"`
	Written   timeField `json:"date" head:"DATE" doc:"when this text was written (with --messages)"`
	Workspace oidField  `json:"workspace_oid" head:"WORKSPACE" doc:"the workspace version that it is linked to; empty for none (with --messages)"`
	FirstLine string    `json:"first_line" head:"FIRST LINE" show:"preview" doc:"the first line of its text (with --messages)"`
	Message   string    `json:"message" doc:"the id of the message (with --messages)"`
}

func (c *logCmd) prepare(*invocation) error {
	if c.Patch && (c.Messages || c.JSON) {
		return usagef("-p shows snapshots as text; it goes with neither --messages nor --json")
	}
	return nil
}

func (c *logCmd) Run(inv *invocation, opened managers) error {
	sessions, revision := opened.sessions, c.Revision.Revision
	if c.Messages {
		opened.store.BoundMemory(packMemory)
		err := printLog(inv, c, sessions.Messages(inv.ctx, revision), func(m engine.MessageInfo) messageRow {
			return messageRow{Index: m.K, Role: string(m.Role), Written: timeField(m.Date), Workspace: oidField(m.Link), FirstLine: m.FirstLine, Message: m.ID.String()}
		})
		return errors.Join(err, inv.mentionExpired(sessions, revision))
	}
	if c.Patch {
		return c.patches(inv, sessions, sessions.Log(inv.ctx, revision))
	}
	return printLog(inv, c, sessions.Log(inv.ctx, revision), snapshotRowOf)
}

func snapshotRowOf(i domarkx.Info) snapshotRow {
	return snapshotRow{OID: oidField(i.ID), Date: timeField(i.Date), Messages: i.Messages, Subject: i.Subject}
}

// eachOf calls show for the entries of a log, with their numbers from 0, while it reads them, because there may be a million.
func eachOf[E any](inv *invocation, c *logCmd, log iter.Seq2[E, error], show func(n int, entry E) error) error {
	n := 0
	for entry, err := range log {
		if err == nil && n == 0 {
			err = inv.page()
		}
		if err == nil {
			err = show(n, entry)
		}
		if err != nil {
			return err
		}
		if n++; n == c.Number {
			break
		}
	}
	return nil
}

func printLog[E, R any](inv *invocation, c *logCmd, log iter.Seq2[E, error], row func(E) R) error {
	w := newResultWriter[R](inv, c.JSON)
	if err := eachOf(inv, c, log, func(_ int, entry E) error { return w.add(row(entry)) }); err != nil {
		return err
	}
	return w.end()
}

// patches prints snapshots, each with its changes.
func (c *logCmd) patches(inv *invocation, sessions *engine.SessionManager, log iter.Seq2[domarkx.Info, error]) error {
	return eachOf(inv, c, log, func(n int, info domarkx.Info) error {
		if n > 0 {
			inv.out.WriteString("\n")
		}
		if err := printResult(inv, false, snapshotRowOf(info)); err != nil {
			return err
		}
		diff, err := compare.Change(inv.ctx, sessions, info)
		if err != nil {
			return err
		}
		return writeDiff(inv, diff)
	})
}
