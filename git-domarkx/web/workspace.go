package web

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
	"github.com/domarkx/domarkx/gitstore/oid"
)

// maxDiff is how much of a diff a page shows, in bytes.
const maxDiff = 2 << 20

func (s *Server) workspace(w http.ResponseWriter, r *http.Request, name string) error {
	if name == "" {
		return s.workspaces(w, r)
	}
	p := newPage("Versions of " + name)
	p.header("Versions of "+name, "")
	p.WriteString("<ul class=\"rows\">\n")
	n := 0
	for v, err := range s.Sessions.VersionLog(r.Context(), revision(r, name, "at")) {
		if err != nil {
			return err
		}
		if n++; n > snapshotsShown {
			p.write("<li>%s</li>\n", link(at("/w/", name, "at", v.ID), "Older versions →"))
			break
		}
		parts := []any{oidOf(v.ID), link("/c/"+v.ID, "changes")}
		if v.Call != nil {
			parts = append(parts, link(at("/s/", v.Call.Session), v.Call.Session))
		}
		p.row(link("/v/"+v.ID+"/", html.Line(v.Subject, 120)), meta(parts...), html.Time(v.Date))
	}
	p.WriteString("</ul>\n")
	return p.show(w)
}

func (s *Server) workspaces(w http.ResponseWriter, r *http.Request) error {
	list, err := s.Store.Workspaces(r.Context())
	if err != nil && list == nil {
		return err
	}
	p := newPage("Workspaces")
	p.header("Workspaces", "")
	p.WriteString("<ul class=\"rows\">\n")
	for _, v := range list {
		p.row(link(at("/w/", v.Workspace), v.Workspace), meta(oidOf(v.ID), link("/v/"+v.ID+"/", "files")), html.Time(v.Date))
	}
	p.WriteString("</ul>\n")
	if len(list) == 0 {
		p.WriteString("<p class=\"meta\">None. A workspace begins with the first call of a session.</p>\n")
	}
	return p.show(w)
}

// changes shows how a version differs from the one before it, or from the version that the parameter a names.
func (s *Server) changes(w http.ResponseWriter, r *http.Request, id string) error {
	b, err := s.versionOf(r, id)
	if err != nil {
		return err
	}
	before := domarkx.Version{}
	if a := r.URL.Query().Get("a"); a != "" {
		if before, err = s.versionOf(r, a); err != nil {
			return err
		}
	} else if len(b.Parents) > 0 {
		if before, err = s.Store.Version(r.Context(), b.Parents[0]); err != nil {
			return err
		}
	}
	p := newPage("Changes of " + short(id))
	links := link("/v/"+id+"/", "Files")
	if before.ID != "" {
		links += link("/v/"+before.ID+"/", "Files before")
	}
	p.header("Changes of "+short(id), nav(links))
	p.WriteString("<div class=\"whole\">")
	written := 0
	err = compare.Versions(r.Context(), s.Store, before, b, func(text []byte) error {
		if written += len(text); written > maxDiff {
			return errEnough
		}
		html.WriteDiff(&p.Buffer, string(text))
		return nil
	})
	switch {
	case errors.Is(err, errEnough):
		p.WriteString("<p class=\"note\">There is more. \"git domarkx workspace diff\" shows all.</p>")
	case err != nil:
		return err
	case written == 0:
		p.WriteString("<p class=\"meta\">Nothing changed.</p>")
	}
	p.WriteString("</div>\n")
	return p.show(w)
}

// errEnough stops a diff that is longer than a page shows.
var errEnough = fmt.Errorf("the diff is longer than a page")

// versionOf returns a version by its full id. An object that is not a version is not found.
func (s *Server) versionOf(r *http.Request, id string) (domarkx.Version, error) {
	if !oid.IsHex(id) {
		return domarkx.Version{}, fmt.Errorf("version %q: %w", id, domarkx.ErrNotFound)
	}
	v, err := s.Store.Version(r.Context(), id)
	if errors.Is(err, domarkx.ErrInvalid) || errors.Is(err, domarkx.ErrCorrupt) {
		return v, fmt.Errorf("version %s: %w: %w", short(id), domarkx.ErrNotFound, err)
	}
	return v, err
}
