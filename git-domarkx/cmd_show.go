package main

import (
	"errors"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type showCmd struct {
	JSON       bool   `name:"json" xor:"form,content" help:"Print the session and its messages as JSON."`
	Format     string `xor:"form" placeholder:"FORMAT" help:"md (the document, the default off a terminal), json, or any format of export."`
	Calls      bool   `xor:"form" help:"On a terminal, show calls, results and thoughts in full."`
	Attachment string `xor:"content" placeholder:"SHA256" help:"Write what is kept beside the messages instead: an output that was too large for one, or a transcript."`
	Revision   string `arg:"" name:"NAME[#K]" help:"A session, NAME~2, NAME@OID, or a message of one."`
}

func (showCmd) row() any { return showRow{} }

func (showCmd) Help() string {
	return `
Shows a session, or one message of it.

On a terminal it shows the conversation, as "git domarkx web" does: for each message its
number, who wrote it, the model, when, and the text, wrapped at the width of the terminal. A
call is a line with the tool and what says most about the call, a result the line below it,
and so is a thought; --calls shows them in full. Of a message that is named, as NAME#K, they
are shown in full, too. Characters that would control the terminal are shown as escapes.

Elsewhere, and with --format md, it prints the document, byte for byte as its author saved
it. --format json is the domarkx snapshot. In the formats of other programs the session is
shown as export writes it. --json is for programs that want to read a conversation: what the
terminal shows, with all calls and results.

An imported document's own snapshot_id and import_timestamp are shown for the snapshot
that the import made; any other snapshot's are derived from its commit. A message that
was changed on two sides stands there twice, and message_metadata.conflict names the
side; how many there are is said on standard error.

The output of a call that is too large for a message is cut there, and kept whole: the
"attachment" of its tool-result names it. So is the transcript of an agent of Zeus: the
"session_sha256" of its message names it.

## Examples

    git domarkx show talk
    git domarkx show --calls @1
    git domarkx show talk#3
    git domarkx show --format md talk
    git domarkx show --format json talk~1 | jq .conversation
    git domarkx show --json talk | jq -r '.messages[] | select(.role == "user") | .text'
    git domarkx show --attachment 3c6e0b8a9c15224a8228b9a98ca1531d... talk >build.log
`
}

// mentionConflictsOf prints how many conflicts a snapshot has, to standard error.
func (inv *invocation) mentionConflictsOf(sessions *engine.SessionManager, r engine.Revision) error {
	info, err := sessions.Resolve(inv.ctx, r)
	if err != nil {
		return err
	}
	info.Name = r.Name
	counts, err := sessions.Conflicts(inv.ctx, []domarkx.Info{info})
	inv.mentionConflicts(counts)
	return err
}

func (c *showCmd) Run(inv *invocation) error {
	form := engine.Form(c.Format)
	isConversation := c.Format == "" && (c.JSON || inv.out.tty)
	if c.Format == "" {
		form = engine.Markdown
	}
	sessions, revision, err := inv.revisionIn(string(form), c.Revision)
	if err != nil {
		return err
	}
	if c.Attachment == "" {
		if err := inv.mentionExpired(sessions, revision); err != nil {
			return err
		}
	}
	if revision.Message < 0 && c.Attachment == "" { // counting reads all messages, and one message names its own conflict
		if err := inv.mentionConflictsOf(sessions, revision); err != nil {
			return err
		}
	}
	if c.Attachment != "" {
		w := inv.out.document()
		return errors.Join(sessions.WriteAttachment(inv.ctx, revision, c.Attachment, w), w.Close())
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
