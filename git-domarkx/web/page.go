package web

import (
	"context"
	"crypto/subtle"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
)

//go:embed web.css
var styles string

//go:embed live.js
var script string

// policy returns the Content-Security-Policy header. It permits only the script that shows new messages, connections only to this
// server, and images only from this server or embedded in the page.
var policy = sync.OnceValue(func() string {
	return pagePolicy() + "; frame-ancestors 'none'"
})

// pagePolicy is the part of the policy that may also stand in a page's meta element.
var pagePolicy = sync.OnceValue(func() string {
	return "default-src 'none'; img-src data: 'self'; style-src " + html.StyleHash() + " " + html.Hash(styles) + "; script-src " + html.Hash(script) +
		"; connect-src 'self'; base-uri 'none'; form-action 'self'"
})

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

// ServeHTTP answers a request if it comes from the user's own browser.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", policy())
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	host := r.Host
	if s.port == "80" { // browsers leave out the port that is the default
		host = strings.TrimSuffix(host, ":80") + ":80"
	}
	switch {
	case !slices.Contains([]string{s.host, "localhost:" + s.port, "[::1]:" + s.port}, host):
		s.refuse(w, http.StatusMisdirectedRequest, "This server answers only at http://"+s.host+".")
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		s.refuse(w, http.StatusMethodNotAllowed, "These pages can only be read.")
	case r.URL.Query().Has("token"):
		s.admit(w, r)
	case !s.knows(r) || !isOwn(r):
		s.refuse(w, http.StatusForbidden, "Open the address that \"git domarkx web\" printed.")
	default:
		s.route(w, r)
	}
}

// cookieName returns the name of the cookie. It contains the port, since servers on other ports of
// the machine share the browser's cookies.
func (s *Server) cookieName() string { return "domarkx-" + s.port }

func (s *Server) knows(r *http.Request) bool {
	return slices.ContainsFunc(r.CookiesNamed(s.cookieName()), func(c *http.Cookie) bool { return same(c.Value, s.cookie) })
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// isOwn reports whether the request comes from a page of this server or from the address bar. The cookie does not show that:
// browsers also send it with requests of pages of other servers on this machine.
func isOwn(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "" || site == "same-origin" || site == "none"
}

// admit sets the cookie for a request with the right token, and leads to the address without it.
func (s *Server) admit(w http.ResponseWriter, r *http.Request) {
	if !same(r.URL.Query().Get("token"), s.token) {
		s.refuse(w, http.StatusForbidden, "The token is not that of this server. Open the address that \"git domarkx web\" printed.")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookieName(), Value: s.cookie, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	address := again(r, "token", "")
	if strings.HasPrefix(address, "//") { // "//HOST" would redirect to another host
		address = "/"
	}
	if isOwn(r) {
		http.Redirect(w, r, address, http.StatusSeeOther)
		return
	}
	// After a link on another site, the browser does not send a SameSite cookie along a redirect.
	// It does when a page of this server leads to the address, so send such a page.
	p := newPage("Sessions")
	p.write(`<meta http-equiv="refresh" content="0;url=%s"><p>%s</p>`, address, link(address, "Go on"))
	p.send(w, http.StatusOK)
}

// refuse answers that a request is not answered, without anything about the repository.
func (s *Server) refuse(w http.ResponseWriter, status int, why string) {
	p := newPage(http.StatusText(status))
	p.heading(http.StatusText(status))
	p.write("<p>%s</p>", why)
	p.send(w, status)
}
