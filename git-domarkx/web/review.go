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
	return p.show(w)
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
		p.row(link("/r/?range="+c.ID, html.Line(c.Subject, 120)), meta(oidOf(c.ID), html.Line(c.Author, 80)), html.Time(c.Date))
	}
	p.WriteString("</ul>\n")
	return p.show(w)
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
	p.header(title, nav(link(at("/m/", name, "k", strconv.Itoa(k)), name+"#"+strconv.Itoa(k))))
	p.WriteString("<main class=\"whole\">\n")
	if len(files) == 0 {
		p.WriteString("<p class=\"meta\">None of its lines is in the commit of HEAD.</p>\n")
	}
	for _, f := range files {
		var numbers []int
		var text strings.Builder
		for _, line := range f.Lines {
			numbers = append(numbers, line.Number)
			text.WriteString(line.Text + "\n")
		}
		p.write("<h2>%s</h2>\n", f.Path)
		p.source(numbers, text.String())
	}
	p.WriteString("</main>\n")
	return p.show(w)
}
