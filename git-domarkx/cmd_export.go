package main

import (
	"cmp"
	"fmt"
	"os"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/web"
)

type exportCmd struct {
	Format       string `required:"" placeholder:"F" formats:"html" help:"html, md, json, agent-chatter, zeus, openpocket, or an agent: ${writable}."`
	Output       string `short:"o" placeholder:"PATH" help:"Write to a file, which is replaced only when all is written, or at the format's own path below a directory."`
	Strict       bool   `help:"Refuse what would lose something."`
	Team         string `placeholder:"ID" help:"Refuse a session of another team; give this one to a session that has none."`
	All          bool   `help:"Write all sessions as a folder of pages, for html."`
	AllowSecrets bool   `help:"With --all: write sessions with secrets, too."`

	Names []string `arg:"" optional:"" name:"NAME" help:"A session, NAME~2 or NAME@OID; with --all, write only sessions that match: as in list, a name, a glob, or a name with all below it."`
}

func (exportCmd) Help() string {
	return `
Writes a session in a format, or all as a folder of pages. While a session is as it was imported, exporting it in the
format that it came in returns the original bytes. A session that was changed, or came in
another format, becomes a document that the format's own program reads.

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

## A site

With --all, all sessions, or those that match, become a folder of such pages, DIR or domarkx-site, as
"git domarkx web" shows them: index.html lists them by date, agent and tag, and s/ has a directory for
each session with its pages and attached files. It can be opened from the disk, put on any web
server, and moved: links are relative, nothing runs and nothing is loaded from elsewhere. The path
of the index is printed.

Written again, the folder is as the sessions are now: only pages that changed are written, and
those of sessions that are gone, or no longer match, are removed. A file that this program did not
write, or that was changed since, is never replaced or removed; when it is in the way of a page,
that is an error. Files are replaced one by one, each at once.

A session with a finding of "git domarkx scan" is left out and named on standard error, unless
--allow-secrets says so or the finding was allowed ("scan --allow"). Pages of it that are there from
earlier are removed.

Directories are named after the sessions, in lower-case ASCII, with ~ for /; where that is not the whole
name, a digest follows. Attached files that are neither images nor text end in .bin, so that no
browser runs them.

## Examples

    git domarkx export --format html -o talk.html talk
    git domarkx export --format html --all -o public
    git domarkx export --format agent-chatter -o ~/.agent-chatter/sessions review-team/42
    git domarkx export --format json talk | jq .conversation
`
}

func (exportCmd) ExitOne() string {
	return "The session is of another team, or --strict and something would be lost; with --all, a session cannot be read, and the others are written."
}

// reportFiles lists the attached files that are not written, because the output is a
// stream.
func (c *exportCmd) reportFiles(inv *invocation, files []domarkx.AttachedFile) {
	for _, f := range files {
		fmt.Fprintf(inv.err, "%s: not written: %s (%d bytes); -o PATH writes it beside the document\n", visible(c.Names[0]), visibleLine(f.Path), f.Size)
	}
}

// reportLosses prints what the format of an export cannot store, a line for each kind.
func (inv *invocation) reportLosses(export *engine.Export) {
	const most = 20
	texts := export.Losses.Texts()
	for i, loss := range texts {
		if i == most && len(texts) > most+1 {
			inv.say("and %d other kinds of things", len(texts)-i)
			return
		}
		inv.say("%s cannot store %s", cmp.Or(export.Codec.Program, export.Codec.Name), visibleLine(loss))
	}
}

func (c *exportCmd) Run(inv *invocation) error {
	switch {
	case c.All:
		return c.site(inv)
	case c.AllowSecrets:
		return usagef("--allow-secrets is for --all; a session that is named is written with its secrets")
	case len(c.Names) != 1:
		return usagef("expected one NAME, got %d; to write several sessions as pages: --format html --all", len(c.Names))
	}
	sessions, revision, err := inv.revisionIn(c.Format, c.Names[0], web.HTML)
	if err != nil {
		return err
	}
	export, err := c.export(inv, sessions, revision)
	if export != nil {
		inv.reportLosses(export)
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

// export returns the document to write.
func (c *exportCmd) export(inv *invocation, sessions *engine.SessionManager, revision engine.Revision) (*engine.Export, error) {
	if c.Format != web.HTML {
		return sessions.Export(inv.ctx, engine.ExportRequest{Revision: revision, Format: c.Format, Team: c.Team, Strict: c.Strict})
	}
	if c.Team != "" {
		return nil, engine.Teamless(c.Format)
	}
	return web.Export(inv.ctx, sessions, revision, inv.costs())
}
