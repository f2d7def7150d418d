package web

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/find/review"
)

// How much a page of a review shows.
const (
	commitsShown = 50
	hunkLines    = 20_000 // of all files
)

// review shows a commit or a range of commits beside the conversation that led to it. Without one it offers some.
func (s *Server) review(w http.ResponseWriter, r *http.Request, name string) error {
	if s.Reviews == nil {
		return fmt.Errorf("page %q: %w", r.URL.Path, domarkx.ErrNotFound)
	}
	query := r.URL.Query()
	of := query.Get("range")
	if name != "" {
		return s.living(w, r, name)
	}
	if of == "" {
		return s.commits(w, r)
	}
	options := review.Options{Range: of}
	if !strings.Contains(of, "..") && !strings.HasSuffix(of, "^!") {
		options.Range += "^!" // what a commit changed
	}
	made, err := s.Reviews.Review(r.Context(), options)
	if err != nil {
		return err
	}
	left, cut := hunkLines, false
	for i := range made.Files {
		for k, h := range made.Files[i].Hunks {
			if left -= len(h.Lines); left < 0 {
				made.Files[i].Hunks, cut = made.Files[i].Hunks[:k], true
				break
			}
		}
	}
	p := newPage(review.Title(made))
	if cut {
		p.WriteString("<p class=\"note\">Not all hunks are shown. \"git domarkx review\" shows all.</p>\n")
	}
	review.WriteBody(&p.Buffer, made, func(session string, message int) string {
		return at("/m/", session, "k", strconv.Itoa(message))
	})
	p.send(w, http.StatusOK)
	return nil
}

// commits lists the newest commits, and asks for a range.
func (s *Server) commits(w http.ResponseWriter, r *http.Request) error {
	commits, err := s.Reviews.Commits(r.Context(), commitsShown)
	if err != nil {
		return err
	}
	p := newPage("Review")
	p.heading("Review a commit or a range")
	p.WriteString(`<form role="search" action="/r/"><input type="search" name="range" aria-label="Range" placeholder="main...feature" required> <button>Show</button></form>` + "\n<ul class=\"rows\">\n")
	for _, c := range commits {
		p.WriteString("<li><div>")
		p.link("/r/?range="+c.ID, html.Line(c.Subject, 120))
		p.WriteString(`<p class="meta"><span>`)
		p.oid(c.ID)
		p.WriteString("</span> <span>")
		p.text(html.Line(c.Author, 80))
		p.WriteString(`</span></p></div><div class="side">`)
		html.WriteTime(&p.Buffer, c.Date)
		p.WriteString("</div></li>\n")
	}
	p.WriteString("</ul>\n")
	p.send(w, http.StatusOK)
	return nil
}

// living shows the lines of a message that are in HEAD.
func (s *Server) living(w http.ResponseWriter, r *http.Request, name string) error {
	k, err := strconv.Atoi(r.URL.Query().Get("k"))
	if err != nil {
		return fmt.Errorf("message %q: %w", r.URL.Query().Get("k"), domarkx.ErrNotFound)
	}
	files, err := s.Reviews.Living(r.Context(), name, k)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("Lines of message %d in HEAD", k)
	p := newPage(title)
	p.WriteString("<header>")
	p.heading(title)
	p.WriteString(`<nav class="pages">`)
	p.link(at("/m/", name, "k", strconv.Itoa(k)), name+"#"+strconv.Itoa(k))
	p.WriteString("</nav></header>\n<main class=\"whole\">\n")
	if len(files) == 0 {
		p.WriteString("<p class=\"meta\">None of its lines is in the commit of HEAD.</p>\n")
	}
	for _, f := range files {
		p.WriteString("<h2>")
		p.text(f.Path)
		p.WriteString("</h2>\n<pre class=\"source\"><span class=\"lines\">")
		for _, line := range f.Lines {
			fmt.Fprintf(p, "%d\n", line.Number)
		}
		p.WriteString("</span><code>")
		for _, line := range f.Lines {
			p.text(line.Text + "\n")
		}
		p.WriteString("</code></pre>\n")
	}
	p.WriteString("</main>\n")
	p.send(w, http.StatusOK)
	return nil
}
