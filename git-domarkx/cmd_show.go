package main

import (
	"cmp"
	"errors"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type showCmd struct {
	JSON       bool        `name:"json" xor:"form,content" help:"Print the session and its messages as JSON."`
	Format     string      `xor:"form" placeholder:"FORMAT" help:"md (the document, the default off a terminal), json, or any format of export."`
	Calls      bool        `xor:"form" help:"On a terminal, show calls, results and thoughts in full."`
	Attachment string      `xor:"content" placeholder:"SHA256" help:"Write what is kept beside the messages instead: an output that was too large for one, or a transcript."`
	Revision   revisionArg `arg:"" name:"NAME[#K]" of:"session" help:"A session, NAME~2, NAME@OID, or a message of one."`
}

func (showCmd) row() any { return showRow{} }

func (c *showCmd) prepare(*invocation) error {
	return checkFormat(cmp.Or(c.Format, string(engine.Markdown)))
}

func (c *showCmd) Run(inv *invocation, opened managers) error {
	sessions, revision := opened.sessions, c.Revision.Revision
	form := engine.Form(cmp.Or(c.Format, string(engine.Markdown)))
	isConversation := c.Format == "" && (c.JSON || inv.out.tty)
	inv.boundMemory(opened)
	inv.mentionDrafts(revision.Name)
	if c.Attachment != "" {
		w := inv.out.document()
		return errors.Join(sessions.WriteAttachment(inv.ctx, revision, c.Attachment, w), w.Close())
	}
	if err := inv.mentionExpired(sessions, revision); err != nil {
		return err
	}
	if revision.Message < 0 { // counting reads all messages, and one message names its own conflict
		info, err := sessions.Resolve(inv.ctx, revision)
		if err != nil {
			return err
		}
		info.Name = revision.Name
		counts, err := sessions.Conflicts(inv.ctx, []domarkx.Info{info})
		if inv.mentionConflicts(counts); err != nil {
			return err
		}
	}
	if isConversation {
		return c.conversation(inv, sessions, revision)
	}
	write := func(w io.Writer) error { return sessions.Show(inv.ctx, revision, form, w) }
	if form != engine.Markdown && form != engine.JSON {
		export, err := sessions.Export(inv.ctx, engine.ExportRequest{Revision: revision, Format: c.Format})
		if err != nil {
			return err
		}
		write = export.Write
	}
	if err := inv.page(); err != nil {
		return err
	}
	w := inv.out.document()
	return errors.Join(write(w), w.Close())
}

// conversation shows the messages, for people or as JSON.
func (c *showCmd) conversation(inv *invocation, sessions *engine.SessionManager, revision engine.Revision) error {
	p, info, err := sessions.Pages(inv.ctx, revision)
	if err != nil {
		return err
	}
	info = sessions.WithAbout(inv.ctx, info)
	if err := inv.page(); err != nil {
		return err
	}
	first := max(0, revision.Message)
	if c.JSON {
		return inv.writeConversationJSON(p, info, first)
	}
	return inv.writeConversation(p, info, first, c.Calls || revision.Message >= 0)
}
