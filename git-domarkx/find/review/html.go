package review

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/domarkx/domarkx/format/html"
)

// HTML returns a review as one page, without scripts or requests.
func HTML(r *Review) []byte {
	var b bytes.Buffer
	html.Begin(&b, Title(r), html.Policy(), "")
	WriteBody(&b, r, func(string, int) string { return "" })
	b.WriteString("<footer>Written by git-domarkx.</footer>\n</div>\n</body>\n</html>\n")
	return b.Bytes()
}

// Title returns the title of a page.
func Title(r *Review) string { return "Review of " + brief(r.Range, maxBrief) }

// WriteBody writes the content of a page. link returns the address of a message of a session, or "" for none.
func WriteBody(b *bytes.Buffer, r *Review, link func(session string, message int) string) {
	w := htmlWriter{b, link}
	w.write("<header>\n<h1>%s</h1>\n<p class=\"meta\">%s</p>\n<p class=\"meta\">", Title(r), Summary(r.Lines)+" in "+html.Count(len(r.Files), "file"))
	for _, m := range r.Models {
		name := cmp.Or(m.Model, "a model that is not recorded")
		w.write("<span>%s</span> ", html.Count(m.Lines, "line")+" by "+brief(name, maxBrief))
	}
	b.WriteString("</p>\n")
	if !r.Recorded && r.Lines.Added > 0 {
		b.WriteString("<p class=\"note\">No session here recorded which files it changed.</p>\n")
	}
	if names := Missing(r); len(names) > 0 {
		w.write("<p class=\"note\">%s</p>\n", "Not on "+r.Remote+", or only in part: "+strings.Join(names, ", "))
	}
	b.WriteString("</header>\n<main>\n")
	for _, s := range r.Sessions {
		w.session(s)
	}
	for i := range r.Files {
		w.file(&r.Files[i])
	}
	b.WriteString("</main>\n")
}

type htmlWriter struct {
	*bytes.Buffer
	link func(session string, message int) string
}

func (w htmlWriter) write(text string, args ...any) {
	w.WriteString(string(html.Markupf(text, args...)))
}

// linked returns a text, linked to a message.
func (w htmlWriter) linked(session string, message int, text string) html.Markup {
	if address := w.link(session, message); address != "" {
		return html.Markupf(`<a href="%s">%s</a>`, address, text)
	}
	return html.Markupf("%s", text)
}

// session writes a session with its prompts, each folded to a line, and the commands in their turns.
func (w htmlWriter) session(s Session) {
	w.write("<section>\n<h2>%s</h2>\n<p class=\"meta\">", brief(s.Name, maxBrief))
	if s.Agent != "" {
		w.write("<span>%s</span> ", s.Agent)
	}
	w.write("<span>%s</span></p>\n", html.Count(s.Lines, "line"))
	for _, p := range s.Prompts {
		title := "Before the first prompt"
		if p.Index >= 0 {
			title = fmt.Sprintf("#%d %s", p.Index, brief(p.Text, maxBrief))
		}
		w.write("<details class=\"more\"><summary>%s <span class=\"status\">%s</span></summary>\n", title, html.Count(p.Lines, "line"))
		w.prompt(s.Name, p)
		w.WriteString("</details>\n")
	}
	w.WriteString("</section>\n")
}

func (w htmlWriter) prompt(session string, p Prompt) {
	if p.Index >= 0 {
		at := w.linked(session, p.Index, fmt.Sprintf("Message %d", p.Index))
		w.write("<p class=\"meta\"><span>%s</span> <span>%s</span></p>\n<pre class=\"plain\">%s</pre>\n", at, Minute(p.Date), p.Text)
	}
	for _, c := range p.Commands {
		at := w.linked(session, c.Index, fmt.Sprintf("#%d", c.Index))
		w.write("<p class=\"label\">%s %s</p>\n<pre class=\"plain\">%s</pre>\n", at, Exit(c), c.Text)
	}
}

func (w htmlWriter) file(f *File) {
	w.write("<section>\n<h2>%s</h2>\n<p class=\"meta\"><span>%s</span>", f.Path, FileSummary(f))
	if f.OldPath != "" {
		w.write(" <span>before: %s</span>", f.OldPath)
	}
	w.WriteString("</p>\n")
	for _, h := range f.Hunks {
		w.WriteString("<ul class=\"meta\">\n")
		for _, a := range h.Authors {
			name := html.Markupf("%s", who(a))
			if a.Index != nil {
				name = w.linked(a.Session, *a.Index, who(a))
			}
			w.write("<li>%s%s</li>\n", name, strings.TrimPrefix(Describe(a), who(a)))
		}
		if len(h.Authors) == 0 {
			w.WriteString("<li>only removes lines</li>\n")
		}
		w.WriteString("</ul>\n")
		html.WriteDiff(w.Buffer, h.Header+"\n"+strings.Join(h.Lines, "\n")+"\n")
	}
	w.WriteString("</section>\n")
}
