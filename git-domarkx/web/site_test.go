package web_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/web"
	"github.com/domarkx/domarkx/git-domarkx/web/folder"
)

func TestSite(t *testing.T) {
	s := newSiteFolder(t)
	s.clone.Now = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	s.imports("talk", "title: A talk\ntags: [red, 'b/l ue']", "hello "+hostile+" [a](https://example.com/) [b](javascript:alert(1)) ![c](https://example.com/x.png)")
	s.clone.Now = time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	s.imports("other", "tags: red", "the other")
	if got := s.write(); got != "7, 0" {
		t.Errorf("files are %s: %q", got, s.files())
	}
	blue := folder.Name("b/l ue")
	s.has("index.html", "<h1>Sessions</h1>", `href="date-2026-04.html">2026-04</a><span class="meta">1</span>`, `href="date-2026-03.html">2026-03`, `href="tag-`+blue+`.html">b/l ue`, `href="tag-red.html">red</a><span class="meta">2</span>`,
		`href="s/other/index.html">`, `href="s/talk/index.html">A talk</a>`, "1 message<", "!Agent</summary>", "!None.")
	s.has("date-2026-03.html", "<h1>2026-03</h1>", "s/talk/index.html", "!s/other")
	s.has("tag-red.html", "<h1>red</h1>", "s/other/index.html", "s/talk/index.html")
	s.has("tag-"+blue+".html", "<h1>b/l ue</h1>", "s/talk/", "!s/other")
	s.has("s/talk/index.html", `href="../../index.html">Sessions`, "<h1>A talk</h1>", "2026-03-01", "hello &quot;", `href="https://example.com/"`, "!/log/", "!/diff/", "!data-live", "!Page 1")

	before := map[string]string{}
	for _, name := range s.files() {
		before[name] = s.content(name)
	}
	if got := s.write(); got != "0, 0" {
		t.Errorf("the same again: %s", got)
	}
	s.clone.Now = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s.clone.Appended("talk", "more")
	if got := s.write(); got != "5, 1" { // the page, index, May and two tags; March is gone
		t.Errorf("after a change: %s", got)
	}
	s.has("index.html", "2026-05", "2026-04", "!2026-03", "s/talk/", "2 messages", "s/other/")
	for _, name := range []string{"s/other/index.html", "date-2026-04.html"} {
		if s.content(name) != before[name] {
			t.Errorf("%s changed", name)
		}
	}
	if got := s.write(func(site *web.Site) { site.Made = "another" }); got != "2, 0" { // their states differ
		t.Errorf("made with another program: %s", got)
	}
	none := func(site *web.Site) { site.Made, site.Sessions = "another", nil }
	if got := s.write(none, func(site *web.Site) { site.Kept = []string{"other", "talk"} }); got != "1, 4" {
		t.Errorf("with sessions that are kept: %s", got)
	}
	if got := s.write(none); got != "0, 2" || !slices.Equal(s.files(), []string{"index.html"}) {
		t.Errorf("without sessions: %s, %q", got, s.files())
	}
	s.has("index.html", "None.", "!<details")
}

// TestSitePages checks sessions that become several pages, and fewer again.
func TestSitePages(t *testing.T) {
	s := newSiteFolder(t)
	var text strings.Builder
	for i := range 605 {
		fmt.Fprintf(&text, "## user\n\nmessage number %d.\n\n", i)
	}
	s.clone.ImportFile(s.clone.WriteFile("long.md", text.String()))
	s.write()
	s.has("s/long/index.html", `href="2.html">Page 2`, `href="3.html">Page 3`, "Page 1 of 3, messages 0 to 299", "number 299.", "!number 300.")
	s.has("s/long/2.html", `href="index.html">Page 1`, "number 300.", "number 599.")
	if err := os.Remove(filepath.Join(s.dir, "s/long/2.html")); err != nil {
		t.Fatal(err)
	}
	if got := s.write(); got != "1, 0" {
		t.Errorf("a page was missing: %s", got)
	}
	s.has("s/long/2.html", "number 300.")
	s.clone.Saved("long", s.clone.Tip("long").ID, strings.Join(strings.SplitAfter(text.String(), "\n\n")[:20], ""))
	if got := s.write(); !strings.HasSuffix(got, ", 2") {
		t.Errorf("after shortening: %s", got)
	}
	s.has("s/long/index.html", "number 9.", "!number 10.", "!Page 2")
}

func TestSiteAttachments(t *testing.T) {
	s := newSiteFolder(t)
	s.clone.Appended("talk", "hello")
	name := func(data, end string) string { return fmt.Sprintf("s/talk/%x.%s", sha256.Sum256([]byte(data)), end) }
	for path, data := range map[string]string{"d/logo.svg": svg, "p.png": png, "notes.html": page, "a": "plain", "b": "plain"} {
		if _, _, err := s.clone.Attach(t.Context(), "talk", path, strings.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	s.write()
	s.has("s/talk/index.html", "Attached files: 5", path.Base(name("plain", "txt")), path.Base(name(svg, "bin")), path.Base(name(page, "txt")), path.Base(name(png, "png")))
	for file, want := range map[string]string{name("plain", "txt"): "plain", name(svg, "bin"): svg, name(page, "txt"): page, name(png, "png"): png} {
		if got := s.content(file); got != want {
			t.Errorf("%s is %q", file, got)
		}
	}
	if got := s.write(); got != "0, 0" {
		t.Errorf("the same again: %s", got)
	}
	if err := os.Remove(filepath.Join(s.dir, name(png, "png"))); err != nil {
		t.Fatal(err)
	}
	if got := s.write(); got != "1, 0" {
		t.Errorf("an attachment was missing: %s", got)
	}
}

// TestSiteNames writes sessions whose names no clone accepts, but a ref can have.
func TestSiteNames(t *testing.T) {
	s := newSiteFolder(t)
	tip := s.clone.Appended("talk", "hello").ID
	refs := ""
	names := []string{"Talk", "a/b", "a%2e%2e/x", `x"><script>`, "жук", "con", "s/index.html", "index.html", strings.Repeat("long/", 40) + "x", strings.Repeat("é", 90), "&amp;", "a;b", "-x"}
	for _, name := range names {
		refs += "create refs/domarkx/sessions/" + name + " " + tip + "\n"
	}
	cmd := exec.Command("git", "-C", s.clone.Dir, "update-ref", "--stdin")
	cmd.Stdin = strings.NewReader(refs)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	written, _, err := s.try()
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for _, name := range s.files() {
		if strings.HasPrefix(name, "s/") {
			if pages++; strings.Count(name, "/") != 2 || len(name) > 140 {
				t.Errorf("a page is at %q", name)
			}
		}
	}
	list, _ := s.clone.List(t.Context())
	if pages != len(list) || pages < len(names)-1 {
		t.Errorf("%d pages of %d sessions: %s", pages, len(list), written)
	}
	s.has("index.html", "x&quot;&gt;&lt;script&gt;")
}

// TestSiteOfDamage checks that a session that cannot be read keeps its page, and the others are written.
func TestSiteOfDamage(t *testing.T) {
	s := newSiteFolder(t)
	s.clone.Appended("a", "one")
	s.clone.Appended("b", "one")
	s.write()
	old := s.content("s/b/index.html")
	s.clone.Appended("a", "two")
	list, err := s.clone.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	broken := list[1]
	broken.ID = strings.Repeat("1", 40)
	written, unread, err := s.try(func(site *web.Site) { site.Sessions = append(slices.Clone(list[:1]), broken) })
	if err != nil || unread == nil || !strings.Contains(unread.Error(), `session "b"`) {
		t.Errorf("%s: %v, %v", written, unread, err)
	}
	s.has("s/a/index.html", "two")
	s.has("index.html", "s/a/index.html", "!s/b/index.html")
	if s.content("s/b/index.html") != old {
		t.Error("the page changed")
	}
}

// TestSiteAmongForeignFiles checks that files of others stay, and stop the export where they are in its way.
func TestSiteAmongForeignFiles(t *testing.T) {
	s := newSiteFolder(t)
	s.clone.Appended("talk", "one")
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(s.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("notes.txt", "mine")
	write("s/gone/notes.txt", "mine")
	s.write()
	for _, name := range []string{"index.html", "s/talk/index.html"} {
		mine := s.content(name) + "<p>mine\n"
		write(name, mine)
		s.clone.Appended("talk", "more")
		_, unread, err := s.try()
		var foreign *folder.ForeignError
		if unread != nil || !errors.As(err, &foreign) || foreign.Path != filepath.Join(s.dir, name) {
			t.Errorf("%s: %v, %v", name, unread, err)
		}
		if s.content(name) != mine {
			t.Errorf("%s was replaced", name)
		}
		if err := os.Remove(filepath.Join(s.dir, name)); err != nil {
			t.Fatal(err)
		}
		s.write()
	}
	s.has("notes.txt", "mine")
	s.has("s/gone/notes.txt", "mine")
}
