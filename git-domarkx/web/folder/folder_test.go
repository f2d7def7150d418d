package folder_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/web/folder"
)

// A shelf is a folder in a directory of its own.
type shelf struct {
	*folder.Folder
	t   *testing.T
	dir string
}

func newShelf(t *testing.T) shelf {
	dir := filepath.Join(t.TempDir(), "new", "site")
	return shelf{folder.Open(dir), t, dir}
}

func (s shelf) page(name, text, state string) {
	s.t.Helper()
	if err := s.Page(name, []byte(text), state); err != nil {
		s.t.Fatal(err)
	}
}

func (s shelf) path(name string) string { return filepath.Join(s.dir, filepath.FromSlash(name)) }

// content returns the content of a file; "" if there is none.
func (s shelf) content(name string) string {
	data, err := os.ReadFile(s.path(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.t.Fatal(err)
	}
	return string(data)
}

func (s shelf) put(name, text string) {
	s.t.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// foreign checks that an error is about a file of others, and names it.
func (s shelf) foreign(err error, name string) {
	s.t.Helper()
	var e *folder.ForeignError
	if !errors.As(err, &e) || e.Path != s.path(name) || !strings.Contains(err.Error(), "move it away") {
		s.t.Errorf("the error is %v, expected one about %s", err, name)
	}
}

func TestPage(t *testing.T) {
	s := newShelf(t)
	s.page("s/a/index.html", "<p>one</p>\n", "0f.2")
	if got := s.content("s/a/index.html"); !strings.HasPrefix(got, "<p>one</p>\n<!-- git-domarkx 0f.2 ") {
		t.Errorf("the page is %q", got)
	}
	if got := s.State("s/a/index.html"); got != "0f.2" || s.State("s/b/index.html") != "" || s.State("s") != "" {
		t.Errorf("the state is %q", got)
	}
	long := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(s.path("s/a/index.html"), long, long); err != nil {
		t.Fatal(err)
	}
	s.page("s/a/index.html", "<p>one</p>\n", "0f.2")
	if info, err := os.Stat(s.path("s/a/index.html")); err != nil || !info.ModTime().Equal(long) || s.Written != 1 {
		t.Errorf("the same page was written again: %v, %v", info, err)
	}
	for i, text := range []string{"<p>two</p>\n", "", strings.Repeat("x", 10_000)} {
		if s.page("s/a/index.html", text, ""); s.Written != i+2 || !strings.HasPrefix(s.content("s/a/index.html"), text+"<!--") {
			t.Errorf("%.9q was not written", text)
		}
	}
}

// TestForeignFiles puts files of others in the way of pages, and pages that somebody changed.
func TestForeignFiles(t *testing.T) {
	s := newShelf(t)
	s.page("mine.html", "text\n", "1")
	s.page("changed.html", "text\n", "1")
	s.put("changed.html", "more "+s.content("changed.html"))
	s.put("state.html", strings.Replace(s.content("mine.html"), "domarkx 1 ", "domarkx 2 ", 1))
	s.put("copy.html", s.content("mine.html"))
	s.put("other.html", "text\n")
	s.put("empty.html", "")
	s.put("dir.html/x", "")
	s.put("file", "")
	if err := os.Symlink(s.path("mine.html"), s.path("link.html")); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	if err := os.Symlink(outside, s.path("out")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"changed.html", "state.html", "copy.html", "other.html", "empty.html", "dir.html", "link.html"} {
		before, _ := os.ReadFile(s.path(name))
		s.foreign(s.Check(name), name)
		s.foreign(s.Page(name, []byte("new\n"), ""), name)
		if after, _ := os.ReadFile(s.path(name)); string(after) != string(before) {
			t.Errorf("%s is %q now", name, after)
		}
	}
	for name, why := range map[string]string{"mine.html": "a page", "none.html": "a missing page"} {
		if err := s.Check(name); err != nil {
			t.Errorf("%s: %v", why, err)
		}
	}
	s.foreign(s.Page("out/x.html", []byte("new\n"), ""), "out")
	if err := s.Page("file/x.html", []byte("new\n"), ""); err == nil {
		t.Error("a page was written below a file")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("outside are %v, %v", entries, err)
	}
	if err := s.Sweep(".", nil); err != nil {
		t.Fatal(err)
	}
	if s.content("mine.html") != "" || s.Removed != 1 {
		t.Errorf("%d were removed", s.Removed)
	}
	for _, name := range []string{"changed.html", "state.html", "copy.html", "other.html"} {
		if s.content(name) == "" {
			t.Errorf("%s was removed", name)
		}
	}
}

func TestAttach(t *testing.T) {
	s := newShelf(t)
	name := fmt.Sprintf("s/a/%x.txt", sha256.Sum256([]byte("hello")))
	for range 2 {
		if err := s.Attach(name, strings.NewReader("hello")); err != nil || s.content(name) != "hello" || s.Written != 1 {
			t.Fatalf("%q, %v", s.content(name), err)
		}
	}
	if err := s.Attach("s/a/hello.txt", strings.NewReader("hello")); err == nil {
		t.Error("a file with another name was written")
	}
	other := strings.Replace(name, ".txt", ".bin", 1)
	s.put(other, "of others")
	s.page("s/a/index.html", "text\n", "")
	if names, err := s.Files("s/a"); err != nil || len(names) != 3 {
		t.Errorf("the files are %q, %v", names, err)
	}
	if dirs, err := s.Dirs("s"); err != nil || len(dirs) != 1 || dirs[0] != "a" {
		t.Errorf("the directories are %q, %v", dirs, err)
	}
	if err := s.Sweep("s/a", map[string]bool{"s/a/index.html": true}); err != nil || s.content(name) != "" || s.content(other) == "" || s.content("s/a/index.html") == "" {
		t.Errorf("removed %d, %v", s.Removed, err)
	}
	if err := os.Remove(s.path(other)); err != nil {
		t.Fatal(err)
	}
	if err := s.Sweep("s/a", nil); err != nil {
		t.Fatal(err)
	}
	if dirs, err := s.Dirs("s"); err != nil || len(dirs) > 0 {
		t.Errorf("an empty directory remains: %q, %v", dirs, err)
	}
}

func TestName(t *testing.T) {
	for name, want := range map[string]string{
		"talk":            "talk",
		"team/a_b-2.1":    "team~a_b-2.1",
		"Talk":            "talk~~",
		"a b":             "a-b~~",
		"..":              "~~",
		"../../etc":       "etc~~",
		"a/":              "a~~",
		"":                "~~",
		".hidden":         "hidden~~",
		"con":             "con~~",
		"aux.x":           "aux-x~~",
		"nul/a":           "nul-a~~",
		"console":         "console",
		"talk~~0":         "talk-0~~",
		"a~b":             "a-b~~",
		`"><script>?#%2f`: "script-2f~~",
		"жук/été":         "t~~",
		"\xff\n":          "~~",

		strings.Repeat("a", 120): strings.Repeat("a", 120),
		strings.Repeat("a", 121): strings.Repeat("a", 60) + "~~",
	} {
		got := folder.Name(name)
		if got != want && (!strings.HasSuffix(want, "~~") || !strings.HasPrefix(got, want) || len(got) != len(want)+32) {
			t.Errorf("%q becomes %q, expected %q", name, got, want)
		}
		if len(got) > 120 || strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789-_.~") != "" || strings.HasPrefix(got, ".") {
			t.Errorf("%q is no safe name", got)
		}
	}
}

// TestNamesDiffer checks names that a file system may confuse.
func TestNamesDiffer(t *testing.T) {
	seen := map[string]string{}
	for _, name := range []string{"a/b", "a~b", "a~~b", "A/b", "a/B", "a", "A", "é", "e\u0301", "É", "..", ".", "", "-", " ", folder.Name("A"), folder.Name("..")} {
		key := strings.ToLower(folder.Name(name))
		if other, ok := seen[key]; ok {
			t.Errorf("%q and %q both become %q", other, name, key)
		}
		seen[key] = name
	}
}
