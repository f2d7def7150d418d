package web

import (
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"
)

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
