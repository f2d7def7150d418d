package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/domarkx/domarkx/git-domarkx/web"
	"github.com/domarkx/domarkx/git-domarkx/web/folder"
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

// defaultSite is the directory of export --all without -o.
const defaultSite = "domarkx-site"

// site writes sessions as a folder of pages.
func (c *exportCmd) site(inv *invocation, opened managers) error {
	dir := cmp.Or(c.Output, defaultSite)
	inv.mentionDrafts()
	all, unlisted := opened.sessions.ListAbout(inv.ctx)
	if all == nil && unlisted != nil {
		return unlisted
	}
	selected, err := inv.selected(all, c.Names)
	if err != nil {
		return err
	}
	progress := inv.progress()
	defer progress.finish()
	site := web.Site{Folder: folder.Open(dir), Sessions: selected, Made: inv.pagesMadeOf(),
		Progress: func(done int) { progress.report("writing pages", int64(done), int64(len(selected))) }}
	unread := []error{unlisted}
	if !c.AllowSecrets {
		var unscanned error
		if site.Sessions, site.Kept, unscanned, err = c.withoutSecrets(inv, opened, selected); err != nil {
			return err
		}
		unread = append(unread, unscanned)
	}
	server := web.Server{Sessions: opened.sessions, Store: opened.store, Cost: inv.costs()}
	unshown, err := server.WriteSite(inv.ctx, site)
	progress.finish()
	if unread = append(unread, unshown); err != nil {
		return errors.Join(append(unread, err)...)
	}
	inv.notice(fmt.Sprintf("%s: %s written, %d removed", counted(len(site.Sessions), "session"), counted(site.Folder.Written, "file"), site.Folder.Removed))
	if err := inv.printLine(path(filepath.Join(dir, "index.html"))); err != nil {
		return err
	}
	if err := inv.bad(unread...); err != nil {
		return err
	}
	if inv.reportPending() {
		return errNo
	}
	return nil
}

// withoutSecrets returns the sessions without secrets, and names the others. It also returns the names of
// those that could not be scanned, and why.
func (c *exportCmd) withoutSecrets(inv *invocation, opened managers, sessions []domarkx.Info) (clean []domarkx.Info, unknown []string, unscanned, err error) {
	outgoing, err := opened.remotes.Outgoing(inv.ctx, mapped(sessions, nameOf))
	if err != nil {
		return nil, nil, nil, err
	}
	progress := inv.progress()
	defer progress.finish()
	var failed []error
	leftOut := 0
	for _, info := range sessions {
		out, ok := outgoing[info.Name]
		if !ok {
			continue // it was removed since it was listed
		}
		found, err := opened.scans.Session(inv.ctx, out, func(done, total int) { progress.report("scanning "+visibleLine(info.Name), int64(done), int64(total)) })
		if err == nil {
			found, err = opened.scans.Without(inv.ctx, found)
		}
		if err == nil && len(found) == 0 && info.ID != out.Tips[0] { // it changed since it was listed
			info, err = opened.sessions.Resolve(inv.ctx, engine.Revision{Name: info.Name, ID: out.Tips[0], Message: -1})
		}
		switch {
		case inv.ctx.Err() != nil:
			return nil, nil, nil, inv.ctx.Err()
		case err != nil:
			unknown, failed = append(unknown, out.Session), append(failed, fmt.Errorf("scan %s: %w", out.Session, err))
		case len(found) > 0:
			progress.finish()
			leftOut++
			fmt.Fprintf(inv.err, "%s: left out: %s of scan\n", visibleLine(info.Name), counted(len(found), "finding"))
		default:
			clean = append(clean, info)
		}
	}
	if leftOut > 0 {
		inv.notice("Sessions with secrets were left out. To list them: git domarkx scan NAME; to remove them from the history: git domarkx redact NAME. If a finding is harmless: git domarkx scan --allow FINGERPRINT; to write all: --allow-secrets.")
	}
	return clean, unknown, errors.Join(failed...), nil
}

// pagesMadeOf names the program and the prices that pages are made with.
func (inv *invocation) pagesMadeOf() string {
	made := []string{versionText(release, commit, buildInfo()), prices.Date()}
	if settings, err := inv.modelSettings(); err == nil {
		for _, name := range settings.Subsections("domarkx") {
			if strings.HasPrefix(name, "price.") {
				for _, part := range prices.Parts {
					value, _ := settings.Get("domarkx." + name + "." + part)
					made = append(made, name, value)
				}
			}
		}
	}
	return strings.Join(made, "\x00")
}
