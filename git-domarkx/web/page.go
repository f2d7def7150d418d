package web

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/gitstore/atomicfile"
)

//go:embed web.css
var styles string

//go:embed live.js
var script string

// policy returns the Content-Security-Policy header. It permits only the script that shows new
// messages, connections only to this server, and images only from this server or embedded in the
// page.
var policy = sync.OnceValue(func() string {
	return pagePolicy() + "; frame-ancestors 'none'"
})

// pagePolicy is the part of the policy that may also stand in a page's meta element.
var pagePolicy = sync.OnceValue(func() string {
	return "default-src 'none'; img-src data: 'self'; style-src " + html.StyleHash() + " " + html.Hash(styles) + "; script-src " + html.Hash(script) +
		"; connect-src 'self'; base-uri 'none'; form-action 'self'"
})

// A page is a page that is being written.
type page struct {
	bytes.Buffer
}

// newPage begins a page. Titles come from sessions, too.
func newPage(title string) *page {
	return beginPage(title, pagePolicy(), `<a href="/">Sessions</a> <a href="/w/">Workspaces</a> <a href="/r/">Review</a>`)
}

func beginPage(title, policy, links string) *page {
	p := &page{}
	html.Begin(&p.Buffer, title+" – git domarkx", policy, styles)
	p.WriteString(`<nav class="site">` + links + "</nav>\n")
	return p
}

func (p *page) end() { p.WriteString("</div>\n</body>\n</html>\n") }

// text writes a text with HTML escaped; the text may come from anybody.
func (p *page) text(s string) { html.Escape(&p.Buffer, s) }

func (p *page) heading(s string) {
	p.WriteString("<h1>")
	p.text(s)
	p.WriteString("</h1>\n")
}

// link writes a link within the server.
func (p *page) link(address, text string) {
	p.WriteString(`<a href="`)
	p.text(address)
	p.WriteString(`">`)
	p.text(text)
	p.WriteString("</a>")
}

// oid writes an abbreviated object id.
func (p *page) oid(id string) {
	p.WriteString(`<span class="oid">`)
	p.text(short(id))
	p.WriteString("</span>")
}

func short(id string) string { return id[:min(len(id), 10)] }

func (p *page) send(w http.ResponseWriter, status int) {
	p.end()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	content := io.Reader(&p.Buffer)
	if p.Len() > maxHeld {
		if f, err := aside(p.Bytes()); err == nil {
			defer f.Close()
			p.Buffer, content = bytes.Buffer{}, f
		}
	}
	w.WriteHeader(status)
	_, _ = io.Copy(w, content) // the browser has gone if this fails
}

// maxHeld is the size in bytes of the largest page that is kept in memory until the browser has received it.
const maxHeld = 4 << 20

// aside stores a page in a file without a name.
func aside(page []byte) (*os.File, error) {
	f, err := atomicfile.CreateUnnamed(os.TempDir(), 0o600)
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(page); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
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

// pagesMade is the number of pages that are made at the same time. Making one may take many times its memory.
const pagesMade = 4

// begin waits until another page may be made. The caller calls end once the page is made, at least once.
func (s *Server) begin(ctx context.Context) (end func(), err error) {
	select {
	case s.making <- struct{}{}:
		return sync.OnceFunc(func() { <-s.making }), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// making is the answer to a request whose page is made when the status is written. The browser may then take its time.
type making struct {
	http.ResponseWriter
	end func()
}

func (m making) WriteHeader(status int) {
	m.end()
	m.ResponseWriter.WriteHeader(status)
}

// Unwrap returns the answer itself, for [http.ResponseController].
func (m making) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// route answers a request of the user.
func (s *Server) route(w http.ResponseWriter, r *http.Request) {
	end, err := s.begin(r.Context())
	if err != nil {
		return // the browser has gone
	}
	defer end()
	w = making{w, end}
	routes := []struct {
		prefix string
		show   func(w http.ResponseWriter, r *http.Request, name string) error
	}{
		{"/s/", s.session}, {"/m/", s.message}, {"/log/", s.log}, {"/diff/", s.diff}, {"/a/", s.attachment}, {"/live/", s.live},
		{"/w/", s.workspace}, {"/v/", s.version}, {"/c/", s.changes}, {"/r/", s.review},
	}
	if r.URL.Path == "/" {
		s.report(w, s.list(w, r))
		return
	}
	for _, route := range routes {
		if name, ok := strings.CutPrefix(r.URL.Path, route.prefix); ok {
			s.report(w, route.show(w, r, name))
			return
		}
	}
	s.report(w, fmt.Errorf("page %q: %w", r.URL.Path, domarkx.ErrNotFound))
}

func (s *Server) report(w http.ResponseWriter, err error) {
	switch {
	case err == nil:
	case errors.Is(err, domarkx.ErrNotFound):
		s.refuse(w, http.StatusNotFound, err.Error())
	case errors.Is(err, domarkx.ErrInvalid):
		s.refuse(w, http.StatusBadRequest, err.Error())
	default:
		s.refuse(w, http.StatusInternalServerError, err.Error())
	}
}
