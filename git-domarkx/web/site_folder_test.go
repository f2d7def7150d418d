package web_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/web"
	"github.com/domarkx/domarkx/git-domarkx/web/folder"
)

// A siteFolder is a folder that the sessions of a clone are written to.
type siteFolder struct {
	t     *testing.T
	dir   string
	clone *enginetest.Clone
}

func newSiteFolder(t *testing.T) *siteFolder {
	return &siteFolder{t, filepath.Join(t.TempDir(), "site"), enginetest.New(t)}
}

// write writes the sessions, and returns how many files were written and removed.
func (s *siteFolder) write(change ...func(*web.Site)) string {
	s.t.Helper()
	written, unread, err := s.try(change...)
	if unread != nil || err != nil {
		s.t.Fatal(unread, err)
	}
	return written
}

func (s *siteFolder) try(change ...func(*web.Site)) (written string, unread, err error) {
	s.t.Helper()
	list, err := s.clone.List(s.t.Context())
	if list == nil && err != nil {
		s.t.Fatal(err)
	}
	site := web.Site{Folder: folder.Open(s.dir), Sessions: list}
	for _, c := range change {
		c(&site)
	}
	server := &web.Server{Sessions: s.clone.SessionManager, Store: s.clone.Store}
	unread, err = server.WriteSite(s.t.Context(), site)
	s.safe()
	return fmt.Sprintf("%d, %d", site.Folder.Written, site.Folder.Removed), unread, err
}

// safe checks that nothing in the pages runs, is loaded, or leads to a file that is not there.
func (s *siteFolder) safe() {
	s.t.Helper()
	for _, name := range s.files() {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		doc, err := nethtml.Parse(strings.NewReader(s.content(name)))
		if err != nil {
			s.t.Fatal(err)
		}
		policy := ""
		for n := range doc.Descendants() {
			if n.Type != nethtml.ElementNode {
				continue
			}
			if slices.Contains([]string{"script", "iframe", "object", "embed", "svg", "base", "link", "form", "audio", "video", "source"}, n.Data) {
				s.t.Errorf("%s has the element %s", name, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/") || slices.Contains([]string{"srcset", "style", "action", "background", "ping", "poster"}, a.Key) {
					s.t.Errorf("%s: <%s %s=%q>", name, n.Data, a.Key, a.Val)
				}
				if a.Key == "href" {
					s.leads(name, a.Val)
				}
				if a.Key == "content" && strings.HasPrefix(a.Val, "default-src 'none'; img-src data:; style-src 'sha256-") && !strings.Contains(a.Val, "self") && !strings.Contains(a.Val, "script") {
					policy = a.Val
				}
			}
		}
		if policy == "" {
			s.t.Errorf("%s has no policy", name)
		}
	}
}

// leads checks a link of a page: it leads to a file of the folder, or is one that a person follows.
func (s *siteFolder) leads(page, link string) {
	s.t.Helper()
	u, err := url.Parse(link)
	switch {
	case err != nil:
		s.t.Errorf("%s: %q: %v", page, link, err)
	case slices.Contains([]string{"http", "https", "mailto"}, u.Scheme), u.Path == "":
	case u.IsAbs(), u.Host != "", u.RawQuery != "", strings.HasPrefix(u.Path, "/"), u.EscapedPath() != link:
		s.t.Errorf("%s has the link %q", page, link)
	default:
		target := path.Join(path.Dir(page), u.Path)
		if info, err := os.Stat(filepath.Join(s.dir, target)); err != nil || !info.Mode().IsRegular() || strings.HasPrefix(target, "..") {
			s.t.Errorf("%s leads to %q: %v", page, link, err)
		}
	}
}

// files returns the paths of the files in the folder.
func (s *siteFolder) files() (names []string) {
	s.t.Helper()
	err := fs.WalkDir(os.DirFS(s.dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		if errors.Is(err, fs.ErrNotExist) && name == "." {
			return nil
		}
		return err
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return names
}

func (s *siteFolder) content(name string) string {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(data)
}

// has checks that a file has texts, in that order, and lacks those that begin with "!".
func (s *siteFolder) has(name string, texts ...string) {
	s.t.Helper()
	body := content(s.content(name))
	at := 0
	for _, text := range texts {
		if rest, lacks := strings.CutPrefix(text, "!"); lacks {
			if strings.Contains(body, rest) {
				s.t.Errorf("%s: %q is in\n%s", name, rest, body)
			}
			continue
		}
		i := strings.Index(body[at:], text)
		if i < 0 {
			s.t.Errorf("%s: expected %q after %d in\n%s", name, text, at, body)
			continue
		}
		at += i + len(text)
	}
}

func (s *siteFolder) imports(name, front, text string) {
	s.t.Helper()
	s.clone.ImportFile(s.clone.WriteFile(name+".md", "---\n"+front+"\n---\n\n## user\n\n"+text+"\n"))
}
