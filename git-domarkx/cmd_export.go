package main

import (
	"cmp"
	"os"
	"strings"

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

	revision engine.Revision // of the only name
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

func (c *exportCmd) prepare(*invocation) (err error) {
	switch {
	case c.All && c.Format != web.HTML:
		return usagef("--all writes pages: --format html; other formats take one NAME")
	case c.All && (c.Strict || c.Team != ""):
		return usagef("--all takes neither --strict nor --team")
	case c.All && c.Output == "-":
		return usagef("--all writes a directory; name it with -o DIR")
	case c.All:
		return nil
	case c.AllowSecrets:
		return usagef("--allow-secrets is for --all; a session that is named is written with its secrets")
	case len(c.Names) != 1:
		return usagef("expected one NAME, got %d; to write several sessions as pages: --format html --all", len(c.Names))
	}
	if err := checkFormat(c.Format, web.HTML); err != nil {
		return err
	}
	c.revision, err = engine.ParseRevision(c.Names[0])
	return err
}

func (c *exportCmd) Run(inv *invocation, opened managers) error {
	inv.boundMemory(opened)
	if c.All {
		return c.site(inv, opened)
	}
	if err := inv.complete(&c.revision.Name); err != nil {
		return err
	}
	inv.mentionDrafts(c.revision.Name)
	sessions, revision := opened.sessions, c.revision
	export, err := c.export(inv, sessions, revision)
	if export != nil {
		inv.reportLosses(export)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(c.Output)
	isStdout := c.Output == "" || c.Output == "-"
	if isStdout || err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		for _, f := range export.Files {
			inv.say("%s: not written: %s (%d bytes); -o PATH writes it beside the document", c.Names[0], visibleLine(f.Path), f.Size)
		}
	}
	intoDirectory := !isStdout && (err == nil && info.IsDir() || strings.HasSuffix(c.Output, "/"))
	file, remembers := c.Output, revision.Message < 0
	switch {
	case isStdout:
		file, err = "", export.Write(exact{inv.out})
	case intoDirectory:
		file, err = export.WriteIn(c.Output, 0o644)
	default:
		if err = export.WriteFile(file); err == nil {
			info, err = os.Stat(file)
			remembers = remembers && err == nil && info.Mode().IsRegular() // nothing can be read back from a device
		}
	}
	if err == nil && remembers {
		err = sessions.RememberExport(inv.ctx, export, file)
	}
	if err != nil || !intoDirectory {
		return err
	}
	return inv.printLine(path(file))
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
