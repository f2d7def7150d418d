package main

import (
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type showCmd struct {
	Format     string `default:"md" placeholder:"FORMAT" help:"md (the default), json, or any format of export."`
	Attachment string `placeholder:"SHA256" help:"Write what is kept beside the messages instead: an output that was too large for one, or a transcript."`
	Revision   string `arg:"" name:"NAME[#K]" help:"A session, NAME~2, NAME@OID, or a message of one."`
}

func (showCmd) Help() string {
	return `
Prints a session, or one message of it. Markdown is given back byte for byte as its
author saved it; json is the domarkx snapshot. In the formats of other programs the
session is shown as export writes it.

An imported document's own snapshot_id and import_timestamp are shown for the snapshot
that the import made; any other snapshot's are derived from its commit. A message that
was changed on two sides stands there twice, and message_metadata.conflict names the
side; how many there are is said on standard error.

The output of a call that is too large for a message is cut there, and kept whole: the
"attachment" of its tool-result names it. So is the transcript of an agent of Zeus: the
"session_sha256" of its message names it.

On a terminal, characters that would control the terminal are shown as escapes.

## Examples

    git domarkx show talk
    git domarkx show talk#3
    git domarkx show --format json talk~1 | jq .conversation
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
	sessions, revision, err := inv.revisionIn(c.Format, c.Revision)
	if err != nil {
		return err
	}
	if revision.Message < 0 && c.Attachment == "" { // counting reads all messages, and one message names its own conflict
		if err := inv.mentionConflictsOf(sessions, revision); err != nil {
			return err
		}
	}
	if c.Attachment != "" {
		w := inv.out.document()
		if err := sessions.WriteAttachment(inv.ctx, revision, c.Attachment, w); err != nil {
			return err
		}
		return w.Close()
	}
	write := func(w io.Writer) error { return sessions.Show(inv.ctx, revision, engine.Form(c.Format), w) }
	if form := engine.Form(c.Format); form != engine.Markdown && form != engine.JSON {
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
	if err := write(w); err != nil {
		return err
	}
	return w.Close()
}
