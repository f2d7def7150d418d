package review

import (
	"bytes"
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
	b.WriteString("<header>\n<h1>")
	html.Escape(b, Title(r))
	b.WriteString("</h1>\n<p class=\"meta\">")
	html.Escape(b, Summary(r.Lines)+" in "+Count(len(r.Files), "file"))
	b.WriteString("</p>\n<p class=\"meta\">")
	for _, m := range r.Models {
		name := m.Model
		if name == "" {
			name = "a model that is not recorded"
		}
		b.WriteString("<span>")
		html.Escape(b, Count(m.Lines, "line")+" by "+brief(name, maxBrief))
		b.WriteString("</span> ")
	}
	b.WriteString("</p>\n")
	if !r.Recorded && r.Lines.Added > 0 {
		b.WriteString("<p class=\"note\">No session here recorded which files it changed.</p>\n")
	}
	if names := Missing(r); len(names) > 0 {
		b.WriteString("<p class=\"note\">")
		html.Escape(b, "Not on "+r.Remote+", or only in part: "+strings.Join(names, ", "))
		b.WriteString("</p>\n")
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

func (w htmlWriter) text(s string) { html.Escape(w.Buffer, s) }

// linked writes a text, linked to a message.
func (w htmlWriter) linked(session string, message int, text string) {
	address := w.link(session, message)
	if address != "" {
		w.WriteString(`<a href="`)
		w.text(address)
		w.WriteString(`">`)
	}
	w.text(text)
	if address != "" {
		w.WriteString("</a>")
	}
}

// session writes a session with its prompts, each folded to a line, and the commands in their turns.
func (w htmlWriter) session(s Session) {
	w.WriteString("<section>\n<h2>")
	w.text(brief(s.Name, maxBrief))
	w.WriteString("</h2>\n<p class=\"meta\"><span>")
	if s.Agent != "" {
		w.text(s.Agent)
		w.WriteString("</span> <span>")
	}
	w.text(Count(s.Lines, "line"))
	w.WriteString("</span></p>\n")
	for _, p := range s.Prompts {
		w.WriteString("<details class=\"more\"><summary>")
		if p.Index < 0 {
			w.WriteString("Before the first prompt")
		} else {
			w.text(fmt.Sprintf("#%d %s", p.Index, brief(p.Text, maxBrief)))
		}
		w.WriteString(` <span class="status">`)
		w.text(Count(p.Lines, "line"))
		w.WriteString("</span></summary>\n")
		w.prompt(s.Name, p)
		w.WriteString("</details>\n")
	}
	w.WriteString("</section>\n")
}

func (w htmlWriter) prompt(session string, p Prompt) {
	if p.Index >= 0 {
		w.WriteString("<p class=\"meta\"><span>")
		w.linked(session, p.Index, fmt.Sprintf("Message %d", p.Index))
		w.WriteString("</span> <span>")
		w.text(Minute(p.Date))
		w.WriteString("</span></p>\n<pre class=\"plain\">")
		w.text(p.Text)
		w.WriteString("</pre>\n")
	}
	for _, c := range p.Commands {
		w.WriteString("<p class=\"label\">")
		w.linked(session, c.Index, fmt.Sprintf("#%d", c.Index))
		w.text(" " + Exit(c))
		w.WriteString("</p>\n<pre class=\"plain\">")
		w.text(c.Text)
		w.WriteString("</pre>\n")
	}
}

func (w htmlWriter) file(f *File) {
	w.WriteString("<section>\n<h2>")
	w.text(f.Path)
	w.WriteString("</h2>\n<p class=\"meta\"><span>")
	w.text(FileSummary(f))
	w.WriteString("</span>")
	if f.OldPath != "" {
		w.WriteString(" <span>before: ")
		w.text(f.OldPath)
		w.WriteString("</span>")
	}
	w.WriteString("</p>\n")
	for _, h := range f.Hunks {
		w.WriteString("<ul class=\"meta\">\n")
		for _, a := range h.Authors {
			w.WriteString("<li>")
			if a.Index != nil {
				w.linked(a.Session, *a.Index, who(a))
			} else {
				w.text(who(a))
			}
			w.text(strings.TrimPrefix(Describe(a), who(a)))
			w.WriteString("</li>\n")
		}
		if len(h.Authors) == 0 {
			w.WriteString("<li>only removes lines</li>\n")
		}
		w.WriteString("</ul>\n")
		html.WriteDiff(w.Buffer, h.Header+"\n"+strings.Join(h.Lines, "\n")+"\n")
	}
	w.WriteString("</section>\n")
}
