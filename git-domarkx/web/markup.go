package web

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/domarkx/domarkx/format/html"
)

// link returns a link within the server.
func link(address, text string) html.Markup {
	return html.Markupf(`<a href="%s">%s</a>`, address, text)
}

func oidOf(id string) html.Markup { return html.Markupf(`<span class="oid">%s</span>`, short(id)) }

func short(id string) string { return id[:min(len(id), 10)] }

// meta returns a line of small print. Its parts are texts or [html.Markup].
func meta(parts ...any) html.Markup {
	spans := make([]string, len(parts))
	for i, part := range parts {
		spans[i] = string(html.Markupf("<span>%s</span>", part))
	}
	return html.Markup(`<p class="meta">` + strings.Join(spans, " ") + "</p>")
}

// nav returns links to other pages.
func nav(links ...html.Markup) html.Markup {
	all := html.Markup("")
	for _, link := range links {
		all += link
	}
	return `<nav class="pages">` + all + "</nav>"
}

// A page is a page that is being written.
type page struct {
	bytes.Buffer
}

// newPage begins a page. Titles come from sessions, too.
func newPage(title string) *page {
	return beginPage(title, pagePolicy(), `<a href="/">Sessions</a> <a href="/w/">Workspaces</a> <a href="/r/">Review</a>`)
}

func beginPage(title, policy string, links html.Markup) *page {
	p := &page{}
	html.Begin(&p.Buffer, title+" – git domarkx", policy, styles)
	p.write("<nav class=\"site\">%s</nav>\n", links)
	return p
}

func (p *page) write(text string, args ...any) { p.WriteString(string(html.Markupf(text, args...))) }

func (p *page) heading(s string) { p.write("<h1>%s</h1>\n", s) }

// header writes the header of a page, with the lines below its heading.
func (p *page) header(title string, below html.Markup) {
	p.write("<header><h1>%s</h1>\n%s</header>\n", title, below)
}

// row writes a row of a list: its title, what is below that, and what is beside them.
func (p *page) row(title, below, side html.Markup) {
	p.write("<li><div>%s%s</div><div class=\"side\">%s</div></li>\n", title, below, side)
}

// cells writes a row of a table.
func (p *page) cells(name html.Markup, about string) {
	p.write("<tr><td>%s</td><td>%s</td></tr>\n", name, about)
}

// source writes lines of a file, with their numbers.
func (p *page) source(numbers []int, text string) {
	p.WriteString(`<pre class="source"><span class="lines">`)
	for _, n := range numbers {
		fmt.Fprintf(p, "%d\n", n)
	}
	p.write("</span><code>%s</code></pre>\n", text)
}

func (p *page) end() { p.WriteString("</div>\n</body>\n</html>\n") }

func (p *page) show(w http.ResponseWriter) error {
	p.send(w, http.StatusOK)
	return nil
}

func (p *page) send(w http.ResponseWriter, status int) {
	p.end()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = p.WriteTo(w) // the browser has gone if this fails
}

// at returns the address of something with a name, which may have slashes.
func at(prefix, name string, query ...string) string {
	parts := strings.Split(name, "/")
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	address := prefix + strings.Join(parts, "/")
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		if query[i+1] != "" {
			values.Set(query[i], query[i+1])
		}
	}
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	return address
}
