package web

import (
	"bytes"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// Limits of a page about a version.
const (
	filesShown = 5000
	maxShown   = 1 << 20 // bytes of a file
)

// version shows a file or a directory of a version: ID/RESOURCE/PATH.
func (s *Server) version(w http.ResponseWriter, r *http.Request, name string) error {
	id, rest, _ := strings.Cut(name, "/")
	v, err := s.versionOf(r, id)
	if err != nil {
		return err
	}
	rest = strings.TrimSuffix(rest, "/")
	if rest == "" {
		return s.resources(w, v)
	}
	f, err := view.File(r.Context(), s.Store, v, rest)
	switch {
	case err != nil:
		return err
	case f.Type == domarkx.Directory:
		return s.directory(w, r, v, rest, f)
	case f.Type != domarkx.Regular && f.Type != domarkx.Symlink:
		return fmt.Errorf("%q is a %s: %w", rest, f.Type, domarkx.ErrInvalid)
	}
	content, err := s.Store.Content(r.Context(), f.ID)
	if err != nil {
		return err
	}
	defer content.Close()
	if f.Type == domarkx.Regular && r.URL.Query().Has("raw") {
		return sendRaw(w, r, path.Base(rest), content)
	}
	return s.file(w, v, rest, f, content)
}

// crumbs writes the links to the directories above a path of a version.
func (p *page) crumbs(v domarkx.Version, name string) {
	base := "/v/" + v.ID + "/"
	trail := link(base, short(v.ID))
	parts := strings.Split(name, "/")
	last := len(parts) - 1
	for i, part := range parts[:last] {
		trail += " / " + link(at(base, strings.Join(parts[:i+1], "/")), part)
	}
	p.write("<h1 class=\"crumbs\">%s / <b>%s</b></h1>\n", trail, parts[last])
}

func (s *Server) resources(w http.ResponseWriter, v domarkx.Version) error {
	p := newPage("Version " + short(v.ID))
	links := []html.Markup{link("/c/"+v.ID, "Changes")}
	if v.Call != nil {
		links = append(links, link(at("/s/", v.Call.Session), "Session "+v.Call.Session))
	}
	p.header("Version "+short(v.ID), meta(v.Subject, html.Time(v.Date))+"\n"+nav(links...))
	p.WriteString("<table class=\"files\">\n")
	for _, r := range v.Resources {
		p.cells(link(at("/v/"+v.ID+"/", r.ID), r.ID), r.Type)
	}
	p.WriteString("</table>\n")
	return p.show(w)
}

func (s *Server) directory(w http.ResponseWriter, r *http.Request, v domarkx.Version, name string, d domarkx.File) error {
	files, err := s.Store.Directory(r.Context(), d.ID)
	if err != nil {
		return err
	}
	p := newPage(name)
	p.crumbs(v, name)
	p.WriteString("<table class=\"files\">\n")
	for i, f := range files {
		if i == filesShown {
			p.cells(html.Markupf("… and %d more", len(files)-i), "")
			break
		}
		label, size := f.Name, ""
		switch f.Type {
		case domarkx.Directory:
			label += "/"
		case domarkx.Regular:
			size = bytesOf(f.Size)
		default:
			size = f.Type.String()
		}
		p.cells(link(at("/v/"+v.ID+"/", name+"/"+f.Name), label), size)
	}
	p.WriteString("</table>\n")
	if len(files) == 0 {
		p.WriteString("<p class=\"meta\">Nothing is in it.</p>\n")
	}
	return p.show(w)
}

func bytesOf(n int64) string {
	switch {
	case n == 1:
		return "1 byte"
	case n < 1<<10:
		return fmt.Sprintf("%d bytes", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
}

// file shows the content of a file, or the target of a symbolic link.
func (s *Server) file(w http.ResponseWriter, v domarkx.Version, name string, f domarkx.File, content domarkx.Content) error {
	data, err := beginning(content, maxShown)
	if err != nil {
		return err
	}
	if content.Size() > maxShown { // the limit may be in the middle of a character
		data = data[:len(data)-format.Partial(data)]
	}
	p := newPage(path.Base(name))
	p.crumbs(v, name)
	raw := at("/v/"+v.ID+"/", name) + "?raw=1"
	kind := link(raw, "raw")
	if f.Type != domarkx.Regular {
		kind = html.Markupf("%s", f.Type.String())
	}
	p.WriteString(string(meta(bytesOf(content.Size()), kind)) + "\n")
	switch {
	case html.ImageType(data) != "" && f.Type == domarkx.Regular:
		p.write("<p><img alt=\"%s\" src=\"%s\"></p>\n", path.Base(name), raw)
	case bytes.IndexByte(data, 0) >= 0 || !utf8.Valid(data):
		p.WriteString("<p class=\"meta\">It is not text.</p>\n")
	default:
		text := string(data)
		var numbers []int
		for range strings.Lines(text) {
			numbers = append(numbers, len(numbers)+1)
		}
		p.source(numbers, text)
		if content.Size() > maxShown {
			p.WriteString("<p class=\"note\">Only the beginning is shown.</p>\n")
		}
	}
	return p.show(w)
}

// attachment sends an attachment of a snapshot: NAME?sha256=DIGEST.
func (s *Server) attachment(w http.ResponseWriter, r *http.Request, name string) error {
	info, err := s.Sessions.Resolve(r.Context(), revision(r, name, "at"))
	if err != nil {
		return err
	}
	digest := r.URL.Query().Get("sha256")
	if len(digest) != 64 || strings.Trim(digest, "0123456789abcdef") != "" {
		return fmt.Errorf("attachment %q: %w", digest, domarkx.ErrNotFound)
	}
	content, err := s.Sessions.Attachment(r.Context(), info.ID, digest)
	if err != nil {
		return err
	}
	defer content.Close()
	file := digest[:16]
	if files, err := s.Store.Files(r.Context(), info.ID); err == nil {
		for _, f := range files {
			if f.SHA256 == digest {
				file = path.Base(f.Path)
			}
		}
	}
	return sendRaw(w, r, file, content)
}

const (
	textType = "text/plain; charset=utf-8"
	anyType  = "application/octet-stream"
)

// beginning returns at most n bytes of a content.
func beginning(content domarkx.Content, n int64) ([]byte, error) {
	data := make([]byte, min(content.Size(), n))
	if _, err := content.ReadAt(data, 0); err != nil && err != io.EOF {
		return nil, err
	}
	return data, nil
}

// rawType returns the type as which a browser may show a file.
func rawType(name string, content domarkx.Content) (string, error) {
	head, err := beginning(content, 512)
	if err != nil {
		return "", err
	}
	if kind := html.ImageType(head); kind != "" {
		return kind, nil
	}
	if strings.HasPrefix(http.DetectContentType(head), "text/") && !strings.HasSuffix(strings.ToLower(name), ".svg") && !bytes.Contains(bytes.ToLower(head), []byte("<svg")) {
		return textType, nil
	}
	return anyType, nil
}

// sendRaw sends a file as it is: images and text to be shown, everything else, SVG too, to be
// downloaded. No browser runs it or guesses another type.
func sendRaw(w http.ResponseWriter, r *http.Request, name string, content domarkx.Content) error {
	kind, err := rawType(name, content)
	if err != nil {
		return err
	}
	h := w.Header()
	if kind == anyType {
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": strings.ToValidUTF8(name, "_")}))
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'")
	http.ServeContent(w, r, "", time.Time{}, io.NewSectionReader(content, 0, content.Size()))
	return nil
}
