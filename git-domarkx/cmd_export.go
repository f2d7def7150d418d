package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

type exportCmd struct {
	Format   string `required:"" placeholder:"F" formats:"html" help:"html, md, json, agent-chatter, zeus, openpocket, or an agent: claude-code, codex, gemini, qwen, copilot, opencode or pi."`
	Output   string `short:"o" placeholder:"PATH" help:"Write to a file, which is replaced only when all is written, or at the format's own path below a directory."`
	Strict   bool   `help:"Refuse what would lose something."`
	Team     string `placeholder:"ID" help:"Refuse a session of another team; give this one to a session that has none."`
	Revision string `arg:"" name:"NAME" help:"A session, NAME~2 or NAME@OID."`
}

func (exportCmd) Help() string {
	return `
Writes a session in a format. While a session is as it was imported, exporting it in the
format that it came in gives back the original bytes. Of a session that was changed, or
came in another format, it makes a document that the format's own program reads.

What the format cannot hold is listed on standard error, for the first ten messages that lose
the same, and counted for the others; with --strict nothing is written then.

When the output is a directory, or ends with a slash, the document is written where the format's
program keeps it below that directory, and its path is printed: for agent-chatter
TEAM/TIME-SESSION.json, for pi --FOLDER--/TIME_ID.jsonl, for openpocket session-ID.md, for html, md
and json the session's name with the extension. A file that has something else is never
overwritten there for agent-chatter, openpocket and pi.

Files that are attached to a session, as the images that it shows, are written beside the
document in the formats md and json, by their paths. A file that is there with other content is
an error, and nothing is written. Where the document does not go to a file, they are listed on
standard error; the other formats have no place for them.

A session that was a branch of a transcript of pi, and a fork of a session, are written as
documents of their own, with another id than the session that they come from.

A file in the format of another program is remembered: importing it again continues this
session, whatever the program made of it.

A session that has no team gets the one of --team, else "domarkx".

## Pages

html is a page for a browser that needs nothing else: no script, nothing that is loaded, the images
of the session inside it. It has a table of the prompts, an anchor for each message (its id), the
calls, results and thoughts folded, diffs in colours, and the tokens and their cost. It can be
printed, and follows the browser's light or dark mode. Everything that the session says is
escaped: raw HTML is shown as text, links lead to http, https and mailto only. A file that is
there is replaced.

A session with more than 5 MB of text or 20,000 messages becomes several pages, in a directory
beside the file: with -o talk.html, talk.pages/ has the pages, and talk.html lists them, each with
the numbers of its messages and its first 50 prompts, below the session's title, tokens and cost.
talk.html has no messages itself, so copy both.

## Examples

    git domarkx export --format html -o talk.html talk
    git domarkx export --format agent-chatter -o ~/.agent-chatter/sessions review-team/42
    git domarkx export --format json talk | jq .conversation
`
}

func (exportCmd) ExitOne() string {
	return "The session is of another team, or --strict and something would be lost."
}

// reportFiles lists the attached files that are not written, because the output is a
// stream.
func (c *exportCmd) reportFiles(inv *invocation, files []domarkx.AttachedFile) {
	for _, f := range files {
		fmt.Fprintf(inv.err, "%s: not written: %s (%d bytes); -o PATH writes it beside the document\n", visible(c.Revision), visibleLine(f.Path), f.Size)
	}
}

func (c *exportCmd) Run(inv *invocation) error {
	sessions, revision, err := inv.revisionIn(c.Format, c.Revision, engine.HTML)
	if err != nil {
		return err
	}
	export, err := sessions.Export(inv.ctx, engine.ExportRequest{Revision: revision, Format: c.Format, Team: c.Team, Strict: c.Strict, Cost: inv.costs()})
	if export != nil && !inv.opts.Quiet {
		for _, loss := range export.Losses.Texts() {
			fmt.Fprintf(inv.err, "%s has no place in %s: %s\n", visible(revision.Name), c.Format, visible(loss))
		}
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(c.Output)
	if isStream := c.Output == "" || c.Output == "-" || err == nil && !info.IsDir() && !info.Mode().IsRegular(); isStream && !inv.opts.Quiet {
		c.reportFiles(inv, export.Files)
	}
	if c.Output == "" || c.Output == "-" {
		if err := export.Write(exact{inv.out}); err != nil || revision.Message >= 0 {
			return err
		}
		return sessions.RememberExport(inv.ctx, export, "")
	}
	if isDirectory := err == nil && info.IsDir() || strings.HasSuffix(c.Output, "/"); !isDirectory {
		if err := export.WriteFile(c.Output); err != nil || revision.Message >= 0 {
			return err
		}
		if info, err := os.Stat(c.Output); err != nil || !info.Mode().IsRegular() { // nothing can be read back from a device
			return err
		}
		return sessions.RememberExport(inv.ctx, export, c.Output)
	}
	file, err := export.WriteIn(c.Output, 0o644)
	if err == nil && revision.Message < 0 {
		err = sessions.RememberExport(inv.ctx, export, file)
	}
	if err != nil {
		return err
	}
	t := newTable()
	t.add(path(file))
	return t.write(inv)
}
