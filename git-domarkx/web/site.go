package web

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/web/folder"
)

// A Site is a folder of pages about sessions that need no server.
type Site struct {
	Folder   *folder.Folder
	Sessions []domarkx.Info
	// Made names everything that pages depend on besides the sessions. When it differs from last time, all pages are made again.
	Made string
	// Kept holds the names of other sessions whose pages stay as they are.
	Kept []string
	// Progress is called with the number of sessions that are done. It may be nil.
	Progress func(done int)
}

// Where the pages are, and the links from them to the index of all sessions.
const (
	sessionsDir = "s"
	indexPage   = "index.html"
	siteLinks   = `<a href="` + indexPage + `">Sessions</a>`
	upLinks     = `<a href="../../` + indexPage + `">Sessions</a>`
)

// sitePolicy is the policy of pages without a server: nothing is loaded and nothing runs.
var sitePolicy = sync.OnceValue(func() string {
	return "default-src 'none'; img-src data:; style-src " + html.StyleHash() + " " + html.Hash(styles) + "; base-uri 'none'; form-action 'none'"
})

// An unreadError reports that a session cannot be read.
type unreadError struct{ error }

func (e unreadError) Unwrap() error { return e.error }

// WriteSite writes the pages of the sessions that changed since the folder was written, and the indexes. Then it removes the
// pages of all other sessions. Sessions that cannot be read are in no index, and their pages stay as they are; their errors are
// joined in unread. The error err matches a [*folder.ForeignError] if a file of others is in the way.
func (s *Server) WriteSite(ctx context.Context, site Site) (unread, err error) {
	if err := site.Folder.Check(indexPage); err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for _, name := range site.Kept {
		kept[folder.Name(name)] = true
	}
	index := &siteIndex{}
	for i, info := range site.Sessions {
		if site.Progress != nil {
			site.Progress(i)
		}
		name := folder.Name(info.Name)
		kept[name] = true
		err := s.writeSession(ctx, site, path.Join(sessionsDir, name), info)
		if err == nil {
			s.indexSession(ctx, index, path.Join(sessionsDir, name, indexPage), info)
		}
		switch e, ok := errors.AsType[unreadError](err); {
		case ctx.Err() != nil:
			return unread, ctx.Err()
		case ok:
			unread = errors.Join(unread, fmt.Errorf("session %q: %w", info.Name, e.error))
		case err != nil:
			return unread, err
		}
	}
	if err := index.write(site.Folder); err != nil {
		return unread, err
	}
	dirs, err := site.Folder.Dirs(sessionsDir)
	for _, dir := range dirs {
		if !kept[dir] && err == nil {
			err = site.Folder.Sweep(path.Join(sessionsDir, dir), nil)
		}
	}
	return unread, err
}

// writeSession writes the pages of a snapshot, unless they are there. The first page is written last: its
// state names the snapshot of all files, and their number.
func (s *Server) writeSession(ctx context.Context, site Site, dir string, info domarkx.Info) error {
	files, err := site.Folder.Files(dir)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{site.Made, sitePolicy(), info.Name, info.ID}, "\x00")))
	state := func(files int) string { return fmt.Sprintf("%x.%d", sum[:16], files) }
	if site.Folder.State(path.Join(dir, indexPage)) == state(len(files)) {
		return nil
	}
	shown, snapshot, err := s.Sessions.Pages(ctx, engine.Revision{Name: info.Name, ID: info.ID, Message: -1})
	if err != nil {
		return unreadError{err}
	}
	shown.Cost = s.Cost
	attached, err := s.Store.Files(ctx, info.ID)
	if err != nil {
		return unreadError{err}
	}
	attached = attached[:min(len(attached), filesShown)]
	names, keep := map[domarkx.AttachedFile]string{}, map[string]bool{}
	for _, f := range attached {
		if names[f], err = s.attach(ctx, site.Folder, dir, info, f); err != nil {
			return err
		}
		keep[path.Join(dir, names[f])] = true
	}
	ends := pageEnds(shown)
	for n := len(ends); n > 0; n-- {
		p, err := s.sitePage(ctx, shown, snapshot, ends, n, func(p *page) {
			p.attached(attached, func(f domarkx.AttachedFile) string { return names[f] })
		})
		if err != nil {
			return err
		}
		name, made := path.Join(dir, pageFile(n)), ""
		if keep[name] = true; n == 1 {
			if err := site.Folder.Sweep(dir, keep); err != nil {
				return err
			}
			made = state(len(keep))
		}
		if err := site.Folder.Page(name, p.Bytes(), made); err != nil {
			return err
		}
	}
	return nil
}

// pageFile returns the name of the file of page n of a session; pages count from 1.
func pageFile(n int) string {
	if n == 1 {
		return indexPage
	}
	return strconv.Itoa(n) + ".html"
}

// sitePage makes page n of a snapshot. attached writes the list of attached files, on the first page.
func (s *Server) sitePage(ctx context.Context, shown html.Session, info domarkx.Info, ends []int, n int, attached func(*page)) (*page, error) {
	part, which, err := renderPage(shown, ends, n)
	if err != nil {
		return nil, unreadError{err}
	}
	title := title(s.Sessions.WithAbout(ctx, info))
	p := beginPage(title, sitePolicy(), upLinks)
	p.header(title, about(shown.Name, info, shown.Messages.Len()))
	if n == 1 {
		attached(p)
	}
	p.part(part, pageLinks(pageFile, n, len(ends), which), "")
	p.end()
	return p, nil
}

// attach writes an attached file, and returns its name. The name ends so that no browser runs the file and no server does.
func (s *Server) attach(ctx context.Context, to *folder.Folder, dir string, info domarkx.Info, f domarkx.AttachedFile) (string, error) {
	content, err := s.Store.Attachment(ctx, info.ID, f.SHA256)
	if err != nil {
		return "", unreadError{err}
	}
	defer content.Close()
	kind, err := rawType(f.Path, content)
	if err != nil {
		return "", unreadError{err}
	}
	name := f.SHA256 + ".bin"
	if image, ok := strings.CutPrefix(kind, "image/"); ok {
		name = f.SHA256 + "." + image
	} else if kind == textType {
		name = f.SHA256 + ".txt"
	}
	return name, to.Attach(path.Join(dir, name), io.NewSectionReader(content, 0, content.Size()))
}

// How much of an index is open, and how many tags of a session count.
const (
	groupsOpen  = 40
	tagsIndexed = 50
)

// A siteIndex lists the sessions of a folder: all of them, and by month, agent and tag.
type siteIndex struct {
	rows   []siteRow
	groups [3]map[string][]siteRow // by the labels
}

type siteRow struct {
	name   string
	active int64
	html   []byte
}

// groupKinds are the kinds of groups: the heading, and the beginning of the file's name.
var groupKinds = [3]struct{ heading, file string }{{"Date", "date-"}, {"Agent", "agent-"}, {"Tag", "tag-"}}

// indexSession adds a session whose page is at an address.
func (s *Server) indexSession(ctx context.Context, index *siteIndex, address string, info domarkx.Info) {
	if info.About == nil {
		info = s.Sessions.WithAbout(ctx, info)
	}
	about := info.Described()
	p := &page{}
	p.session(info, address)
	entry := siteRow{info.Name, about.Active, p.Bytes()}
	index.rows = append(index.rows, entry)
	index.add(0, time.Unix(about.Active, 0).UTC().Format("2006-01"), entry)
	if about.Agent != "" {
		index.add(1, about.Agent, entry)
	}
	for i, tag := range about.Tags[:min(len(about.Tags), tagsIndexed)] {
		if tag != "" && !slices.Contains(about.Tags[:i], tag) {
			index.add(2, tag, entry)
		}
	}
}

func (x *siteIndex) add(kind int, label string, row siteRow) {
	if x.groups[kind] == nil {
		x.groups[kind] = map[string][]siteRow{}
	}
	x.groups[kind][label] = append(x.groups[kind][label], row)
}

// write writes the indexes, the one of all sessions last, and removes those of groups that are gone.
func (x *siteIndex) write(f *folder.Folder) error {
	keep := map[string]bool{indexPage: true}
	top := beginPage("Sessions", sitePolicy(), siteLinks)
	top.header("Sessions", "")
	for kind, groups := range x.groups {
		if len(groups) == 0 {
			continue
		}
		labels := slices.Sorted(maps.Keys(groups))
		if kind == 0 {
			slices.Reverse(labels)
		}
		open := ""
		if len(labels) <= groupsOpen {
			open = " open"
		}
		fmt.Fprintf(top, "<details class=\"filters\"%s><summary>%s</summary>\n<nav class=\"pages\">", open, groupKinds[kind].heading)
		for _, label := range labels {
			file := groupKinds[kind].file + folder.Name(label) + ".html"
			keep[file] = true
			top.write("%s<span class=\"meta\">%d</span>", link(file, cmp.Or(html.Line(label, 60), file)), len(groups[label]))
			p := beginPage(label, sitePolicy(), siteLinks)
			p.header(html.Line(label, 120), "")
			newestFirst(groups[label])
			p.siteRows(groups[label])
			p.end()
			if err := f.Page(file, p.Bytes(), ""); err != nil {
				return err
			}
		}
		top.WriteString("</nav></details>\n")
	}
	newestFirst(x.rows)
	more := len(x.rows) - sessionsShown
	top.siteRows(x.rows[:min(len(x.rows), sessionsShown)])
	switch {
	case more > 0:
		fmt.Fprintf(top, "<p class=\"meta\">The newest %d. %d more are listed by date.</p>\n", sessionsShown, more)
	case len(x.rows) == 0:
		top.WriteString("<p class=\"meta\">None.</p>\n")
	}
	top.end()
	if err := f.Page(indexPage, top.Bytes(), ""); err != nil {
		return err
	}
	return f.Sweep(".", keep)
}

func newestFirst(rows []siteRow) {
	slices.SortFunc(rows, func(a, b siteRow) int { return cmp.Or(cmp.Compare(b.active, a.active), cmp.Compare(a.name, b.name)) })
}

func (p *page) siteRows(rows []siteRow) {
	p.WriteString("<ul class=\"rows\">\n")
	for _, row := range rows {
		p.Write(row.html)
	}
	p.WriteString("</ul>\n")
}
