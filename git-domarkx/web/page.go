package web

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/http"
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
