package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/web/folder"
)

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
