package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
	"github.com/domarkx/domarkx/git-domarkx/find/search"
)

// How much a page shows at most.
const (
	sessionsShown  = 100
	hitsShown      = 50
	snapshotsShown = 200
)

// list shows the sessions that match, and the messages that were searched for.
func (s *Server) list(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	get := func(name string) string { return strings.TrimSpace(query.Get(name)) }
	all, unread := s.Sessions.ListAbout(r.Context())
	if all == nil && unread != nil {
		return unread
	}
	sort := get("sort")
	if sort == "" {
		sort = "activity"
	}
	o := pick.Options{Agent: get("agent"), Branch: get("branch"), Tag: get("tag"), Sort: sort}
	if name := get("name"); name != "" {
		o.Patterns = []string{name}
	}
	list, err := pick.Picker{Sessions: s.Sessions, Store: s.Store}.Select(r.Context(), all, o)
	if list == nil {
		return err
	}
	unread = errors.Join(unread, err)
	p := newPage("Sessions")
	p.header("Sessions", filters(get))
	if unread != nil {
		p.write("<p class=\"note\">%s</p>\n", unread.Error())
	}
	if q := get("q"); q != "" {
		filtered := o.Agent != "" || o.Branch != "" || o.Tag != "" || len(o.Patterns) > 0
		if err := s.hits(r.Context(), p, q, list, filtered); err != nil {
			return err
		}
		list = named(list, q)
		p.WriteString("<h2>Sessions with such a name or beginning</h2>\n")
	}
	from, _ := strconv.Atoi(get("from"))
	from = max(0, min(from, len(list)))
	p.WriteString("<ul class=\"rows\">\n")
	for _, info := range list[from:min(from+sessionsShown, len(list))] {
		p.session(info, at("/s/", info.Name))
	}
	p.WriteString("</ul>\n")
	var links []html.Markup
	if from > 0 {
		links = append(links, link(again(r, "from", strconv.Itoa(max(0, from-sessionsShown))), "← Before"))
	}
	if from+sessionsShown < len(list) {
		links = append(links, link(again(r, "from", strconv.Itoa(from+sessionsShown)), fmt.Sprintf("%d more →", len(list)-from-sessionsShown)))
	}
	p.write("%s\n", nav(links...))
	if len(list) == 0 {
		p.WriteString("<p class=\"meta\">None.</p>\n")
	}
	return p.show(w)
}

// again returns the request's address with the named parameter set to value, or without that parameter if value is "".
func again(r *http.Request, name, value string) string {
	query := r.URL.Query()
	if query.Set(name, value); value == "" {
		query.Del(name)
	}
	if len(query) == 0 {
		return r.URL.EscapedPath()
	}
	return r.URL.EscapedPath() + "?" + query.Encode()
}

func filters(get func(string) string) html.Markup {
	fields := []struct{ name, label, hint string }{{"name", "Name", "claude-code/*"}, {"agent", "Agent", "claude-code"}, {"branch", "Branch", "main"}, {"tag", "Tag", ""}}
	open, inputs, options := "", html.Markup(""), html.Markup("")
	for _, f := range fields {
		if get(f.name) != "" {
			open = " open"
		}
		inputs += html.Markupf(`<label>%s <input name="%s" placeholder="%s" value="%s"></label>`, f.label, f.name, f.hint, get(f.name))
	}
	for _, sort := range []string{"activity", "created", "name", "messages"} {
		selected := ""
		if get("sort") == sort {
			selected = " selected"
		}
		options += html.Markupf("<option%s>%s</option>", selected, sort)
	}
	return html.Markupf(`<form method="get" action="/" role="search"><input type="search" name="q" placeholder="Search messages" aria-label="Search messages" value="%s"> `+
		`<details class="filters"%s><summary>Filters</summary>%s<label>Sort <select name="sort">%s</select></label></details><button>Search</button></form>`+"\n", get("q"), open, inputs, options)
}

// named returns the sessions whose names or beginnings contain a text.
func named(list []domarkx.Info, q string) []domarkx.Info {
	var found []domarkx.Info
	q = strings.ToLower(q)
	for _, info := range list {
		if slices.ContainsFunc([]string{info.Name, info.Described().Title, info.Preview}, func(text string) bool { return strings.Contains(strings.ToLower(text), q) }) {
			found = append(found, info)
		}
	}
	return found
}

// session writes a session of a list, with a link to an address.
func (p *page) session(info domarkx.Info, address string) {
	about := info.Described()
	parts := []any{info.Name}
	if about.Agent != "" && !strings.HasPrefix(info.Name, about.Agent+"/") {
		parts = append(parts, about.Agent)
	}
	p.row(link(address, title(info)), meta(parts...), html.Time(about.Active)+html.Markupf("<br>%s", html.Count(info.Messages, "message")))
}

// title returns the title of a session, or its beginning.
func title(info domarkx.Info) string {
	for _, text := range []string{info.Described().Title, strings.ToValidUTF8(info.Preview, "\ufffd")} {
		if t := html.Line(text, 120); t != "" {
			return t
		}
	}
	return info.Name
}

func (s *Server) hits(ctx context.Context, p *page, text string, list []domarkx.Info, filtered bool) error {
	q := search.Query{Text: text, Advice: `expected words, "phrases", prefix*, NOT word, or OR between them`, Limit: hitsShown + 1, Width: 240}
	p.WriteString("<h2>Messages</h2>\n")
	if err := search.Check(q); err != nil {
		p.write("<p class=\"note\">%s</p>\n", err.Error())
		return nil
	}
	if filtered {
		q.Sessions = map[string]bool{}
		for _, info := range list {
			q.Sessions[info.Name] = true
		}
	}
	s.searching.Lock()
	defer s.searching.Unlock()
	hits, err := search.Find(ctx, s.Store, q, search.Options{})
	if err != nil {
		return err
	}
	if len(hits) == 0 {
		p.WriteString("<p class=\"meta\">None.</p>\n")
	}
	p.WriteString("<ul class=\"rows\">\n")
	for _, h := range hits[:min(len(hits), hitsShown)] {
		place := link(at("/m/", h.Session, "k", strconv.Itoa(h.K)), fmt.Sprintf("%s#%d", h.Session, h.K))
		p.row(place, `<p class="snippet">`+marked(h.Snippet, h.Matches)+"</p>", html.Time(h.Date)+html.Markupf("<br>%s", string(h.Role)))
	}
	p.WriteString("</ul>\n")
	if len(hits) > hitsShown {
		fmt.Fprintf(p, "<p class=\"meta\">The first %d. \"git domarkx search\" shows all.</p>\n", hitsShown)
	}
	return nil
}

// marked returns a text with some ranges of it marked.
func marked(text string, ranges [][2]int) html.Markup {
	all, end := html.Markup(""), 0
	for _, m := range ranges {
		if m[0] < end || m[1] < m[0] || m[1] > len(text) {
			continue
		}
		all += html.Markupf("%s<mark>%s</mark>", text[end:m[0]], text[m[0]:m[1]])
		end = m[1]
	}
	return all + html.Markupf("%s", text[end:])
}
