package html

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
)

// A session with more text or messages than these is written as several pages.
const (
	MaxText     = 5 << 20 // bytes
	MaxMessages = 20_000
)

const (
	pageText     = 1 << 20 // bytes of text after which the next page begins
	pageMessages = 1000
	promptsShown = 50 // of a page, in the index
)

// pageName returns the name of the file of a page; pages count from 1.
func pageName(n int) string { return strconv.Itoa(n) + ".html" }

// IsPage reports whether name is a file name that [WritePages] generates for a page.
func IsPage(name string) bool {
	var n int
	_, err := fmt.Sscanf(name, "%d.html", &n)
	return err == nil && n > 0 && name == pageName(n)
}

// WritePages writes a session as several pages and returns the index of them. It calls create
// with the name and the content of each page. dir is the path from the index to the pages; index
// is the path back.
func WritePages(s Session, dir, index string, create func(name string, data []byte) error) ([]byte, error) {
	w := newWriter(s)
	var list bytes.Buffer
	count := s.Messages.Len()
	link := (&url.URL{Path: dir}).String() + "/" // "./" before a name with a colon, which would be a scheme
	back := (&url.URL{Path: index}).EscapedPath()
	n := 1
	for k := 0; k < count; n++ {
		var body bytes.Buffer
		w.prompts, w.markdown.images = nil, 0
		first, size := k, 0
		for ; k < count && size < pageText && k-first < pageMessages; k++ {
			some, err := w.message(&body, k, n)
			if err != nil {
				return nil, fmt.Errorf("message %d: %w", k, err)
			}
			size += some
		}
		listPage(&list, w.prompts, link, n, first, k)
		if err := create(pageName(n), page(w, body.Bytes(), back, n, first, k, k < count)); err != nil {
			return nil, err
		}
	}
	w.prompts = nil
	var b bytes.Buffer
	title := w.title()
	Begin(&b, title, Policy(), "")
	w.header(&b, title)
	writef(&b, "<main>\n<p class=\"meta\">The messages are on %d pages, in the directory <code>%s</code> beside this file. "+
		"This file lists the pages and the prompts on each.</p>\n", n-1, dir)
	b.Write(list.Bytes())
	b.WriteString("</main>\n")
	end(&b)
	return b.Bytes(), nil
}

// page returns the page with the messages from index first up to, but excluding, last.
func page(w *writer, body []byte, index string, n, first, last int, more bool) []byte {
	var b bytes.Buffer
	links := Markupf(`<nav class="pages"><a href="%s">All pages</a>`, index)
	if n > 1 {
		links += Markupf(` <a href="%s">← Page %d</a>`, pageName(n-1), n-1)
	}
	if more {
		links += Markupf(` <a href="%s">Page %d →</a>`, pageName(n+1), n+1)
	}
	links += "</nav>\n"
	title := fmt.Sprintf("%s, page %d", w.session.Name, n)
	Begin(&b, title, Policy(), "")
	writef(&b, "<header>\n<h1>%s</h1>\n<p class=\"meta\">Messages %d to %d</p>\n</header>\n%s", title, first, last-1, links)
	writePrompts(&b, w.prompts, "", len(w.prompts) <= 40)
	b.WriteString("<main>\n")
	b.Write(body)
	b.WriteString("</main>\n" + string(links))
	end(&b)
	return b.Bytes()
}

// listPage writes the prompts of a page into the index.
func listPage(b *bytes.Buffer, prompts []prompt, dir string, n, first, last int) {
	writef(b, "<nav class=\"prompts\"><h2><a href=\"%s\">Page %d</a></h2>\n<p class=\"meta\">Messages %d to %d</p>\n<ol>\n", dir+pageName(n), n, first, last-1)
	for i, p := range prompts {
		if i == promptsShown {
			fmt.Fprintf(b, "<li>… and %d more</li>\n", len(prompts)-i)
			break
		}
		writePrompt(b, p, dir)
	}
	b.WriteString("</ol></nav>\n")
}
