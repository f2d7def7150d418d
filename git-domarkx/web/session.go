package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"sort"
	"strconv"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

// revision returns the snapshot of a session that a request names.
func revision(r *http.Request, name, parameter string) engine.Revision {
	return engine.Revision{Name: name, ID: r.URL.Query().Get(parameter), Message: -1}
}

// pages returns the shown form of a snapshot.
func (s *Server) pages(r *http.Request, v engine.Revision) (html.Session, domarkx.Info, error) {
	p, info, err := s.Sessions.Pages(r.Context(), v)
	p.Cost = s.Cost
	p.Files = func(version string) string { return "/v/" + version + "/" }
	if s.Reviews != nil && v.ID == "" {
		p.Lines = func(k int) string { return at("/r/", v.Name, "k", strconv.Itoa(k)) }
	}
	return p, info, err
}

// session shows a snapshot: the last messages, or those of another page of it.
func (s *Server) session(w http.ResponseWriter, r *http.Request, name string) error {
	v := revision(r, name, "at")
	shown, info, err := s.pages(r, v)
	if err != nil {
		return err
	}
	count := shown.Messages.Len()
	ends := pageEnds(shown)
	last := len(ends)
	n, err := strconv.Atoi(r.URL.Query().Get("page"))
	if err != nil || n > last {
		n = last
	}
	n = max(1, n)
	part, which, err := renderPage(shown, ends, n)
	if err != nil {
		return err
	}
	title := title(s.Sessions.WithAbout(r.Context(), info))
	p := newPage(title)
	s.sessionHeader(r.Context(), p, title, v, info, count)
	files, err := s.Store.Files(r.Context(), info.ID)
	if err != nil {
		return err
	}
	p.attached(files, func(f domarkx.AttachedFile) string { return at("/a/", name, "at", info.ID, "sha256", f.SHA256) })
	turn := pageLinks(func(k int) string { return at("/s/", v.Name, "at", v.ID, "page", strconv.Itoa(k)) }, n, last, which)
	live := ""
	if v.ID == "" && n == last {
		live = at("/live/", name, "at", info.ID, "from", strconv.Itoa(max(0, count-1)))
	}
	p.part(part, turn, live)
	if live != "" {
		p.WriteString("<script>" + script + "</script>\n")
	}
	return p.show(w)
}

// part writes messages of a snapshot between links to other pages. live is the address of the messages that follow; "" if the page
// does not show them.
func (p *page) part(part html.Part, turn html.Markup, live string) {
	p.WriteString(string(turn))
	p.Write(part.Prompts)
	from := html.Markup("")
	if live != "" {
		from = html.Markupf(` data-live="%s"`, live)
	}
	p.write("<main%s>\n", from)
	p.Write(part.Messages)
	p.write("</main>\n%s", turn)
}

// sessionHeader writes the beginning of a page of a snapshot: its title, its kind, and links to its surroundings.
func (s *Server) sessionHeader(ctx context.Context, p *page, title string, v engine.Revision, info domarkx.Info, count int) {
	links := []html.Markup{link(at("/log/", v.Name), "Snapshots"), link(at("/diff/", v.Name, "b", info.ID), "Last change")}
	if version, err := s.Sessions.VersionAt(ctx, v); err == nil {
		links = append(links, link("/v/"+version.ID+"/", "Files"))
	}
	if ws, err := s.Sessions.WorkspaceOf(ctx, v.Name); err == nil {
		if _, err := s.Store.WorkspaceTip(ctx, ws); err == nil {
			links = append(links, link(at("/w/", ws), "Versions of the workspace"))
		}
	}
	if v.ID != "" {
		links = append(links, link(at("/s/", v.Name), "Newest snapshot"))
	}
	p.header(title, about(v.Name, info, count)+nav(links...))
}

func about(name string, info domarkx.Info, count int) html.Markup {
	return meta(name, oidOf(info.ID), html.Time(info.Date), html.Count(count, "message")) + "\n"
}

// attached writes the list of the files that a snapshot keeps. address returns the address of one.
func (p *page) attached(files []domarkx.AttachedFile, address func(domarkx.AttachedFile) string) {
	if len(files) == 0 {
		return
	}
	fmt.Fprintf(p, "<details class=\"more\"><summary>Attached files: %d</summary>\n<table class=\"files\">\n", len(files))
	for _, f := range files[:min(len(files), filesShown)] {
		p.cells(link(address(f), f.Path), bytesOf(f.Size))
	}
	p.WriteString("</table></details>\n")
}

// message leads to the page and the place of a message.
func (s *Server) message(w http.ResponseWriter, r *http.Request, name string) error {
	k, err := strconv.Atoi(r.URL.Query().Get("k"))
	if err != nil || k < 0 {
		return fmt.Errorf("message %q: %w", r.URL.Query().Get("k"), domarkx.ErrNotFound)
	}
	shown, info, err := s.pages(r, revision(r, name, "at"))
	if err != nil {
		return err
	}
	e, err := s.Store.Entry(r.Context(), info.ID, k)
	if err != nil {
		return err
	}
	ends := pageEnds(shown)
	n := 1 + sort.SearchInts(ends, k+1)
	http.Redirect(w, r, at("/s/", name, "at", r.URL.Query().Get("at"), "page", strconv.Itoa(n))+"#"+e.ID.String(), http.StatusSeeOther)
	return nil
}

func (s *Server) log(w http.ResponseWriter, r *http.Request, name string) error {
	p := newPage("Snapshots of " + name)
	p.header("Snapshots of "+name, nav(link(at("/s/", name), "Session")))
	p.WriteString("<ul class=\"rows\">\n")
	n, newest := 0, ""
	for info, err := range s.Sessions.Log(r.Context(), revision(r, name, "at")) {
		if err != nil {
			return err
		}
		if n == 0 {
			newest = info.ID
		}
		if n++; n > snapshotsShown {
			p.write("<li>%s</li>\n", link(at("/log/", name, "at", info.ID), "Older snapshots →"))
			break
		}
		parts := []any{oidOf(info.ID), html.Count(info.Messages, "message"), link(at("/diff/", name, "b", info.ID), "changes")}
		if n > 1 {
			parts = append(parts, link(at("/diff/", name, "a", info.ID, "b", newest), "compare with the one at the top"))
		}
		p.row(link(at("/s/", name, "at", info.ID), html.Line(info.Subject, 120)), meta(parts...), html.Time(info.Date))
	}
	p.WriteString("</ul>\n")
	return p.show(w)
}

// diff shows how two snapshots differ, or what one of them changed.
func (s *Server) diff(w http.ResponseWriter, r *http.Request, name string) error {
	b, err := s.Sessions.Resolve(r.Context(), revision(r, name, "b"))
	if err != nil {
		return err
	}
	b.Name = name
	var text []byte
	title := "What " + short(b.ID) + " changed"
	if from := r.URL.Query().Get("a"); from != "" {
		title = short(from) + " and " + short(b.ID)
		text, err = compare.Revisions(r.Context(), s.Sessions, revision(r, name, "a"), engine.Revision{Name: name, ID: b.ID, Message: -1}, name+"@"+short(from), name+"@"+short(b.ID))
	} else {
		text, err = compare.Change(r.Context(), s.Sessions, b)
	}
	if err != nil {
		return err
	}
	p := newPage(title)
	p.header(title, nav(link(at("/s/", name, "at", b.ID), "Session"), link(at("/log/", name), "Snapshots")))
	p.WriteString("<div class=\"whole\">")
	switch {
	case len(text) == 0:
		p.WriteString("<p class=\"meta\">They are the same.</p>")
	case len(text) > maxDiff:
		html.WriteDiff(&p.Buffer, string(text[:bytes.LastIndexByte(text[:maxDiff], '\n')+1]))
		p.WriteString("<p class=\"note\">There is more. \"git domarkx diff\" shows all.</p>")
	default:
		html.WriteDiff(&p.Buffer, string(text))
	}
	p.WriteString("</div>\n")
	return p.show(w)
}

// A page of a session ends after so many messages or bytes of text. It has at least one message.
const (
	messagesShown = 300
	textShown     = 1 << 20
)

// pageEnds returns for each page of a snapshot the index after its last message. There is at least one page.
func pageEnds(shown html.Session) (ends []int) {
	first, size, count := 0, int64(0), shown.Messages.Len()
	for k := range count {
		more := shown.Size(k)
		if k > first && (k-first == messagesShown || size+more > textShown) {
			ends = append(ends, k)
			first, size = k, 0
		}
		size += more
	}
	return append(ends, count)
}

// renderPage returns page n of a snapshot, and which messages are on it.
func renderPage(shown html.Session, ends []int, n int) (part html.Part, which string, err error) {
	from, to := 0, ends[n-1]
	if n > 1 {
		from = ends[n-2]
	}
	part, err = html.Render(shown, from, to)
	return part, fmt.Sprintf("messages %d to %d", from, to-1), err
}

// pageLinks returns links from page n of a snapshot to the neighbours of that page, the first one and the last. address returns
// the address of a page.
func pageLinks(address func(k int) string, n, last int, shown string) html.Markup {
	if last == 1 {
		return ""
	}
	links := html.Markup("")
	linked := 0
	for _, k := range []int{1, n - 1, n + 1, last} {
		if k <= linked || k > last || k == n {
			continue
		}
		linked = k
		links += link(address(k), fmt.Sprintf("Page %d", k))
	}
	return nav(links, html.Markupf("<span class=\"meta\">Page %d of %d, %s</span>", n, last, shown)) + "\n"
}
