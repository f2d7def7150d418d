package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/usage/prices"
	"github.com/domarkx/domarkx/git-domarkx/web"
	"github.com/domarkx/domarkx/git-domarkx/web/folder"
)

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
