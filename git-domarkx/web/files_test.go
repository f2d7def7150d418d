package web_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

const (
	png  = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	gif  = "GIF89a\x01\x00\x01\x00"
	svg  = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	page = "<!DOCTYPE html><script>alert(1)</script>"
)

// TestFilePages checks how the files of a version are shown, and how they are sent as they are.
func TestFilePages(t *testing.T) {
	s := newSite(t)
	odd := `a"b<c>d&e#f?g%h`
	euros := strings.Repeat("€", 400_000) // more than a page shows
	files := map[string]string{
		"text": "one\n<b>two</b>\n", "no newline": "x", "empty": "", "umlauts": "grüße", "accent at the end": "caf\u00e9", "emoji": "😀", "euros": euros,
		"latin": "gr\xfc\xdfe", "nul": "a\x00b", "page.html": page, "p.png": png, "g.gif": gif, "p.avif": "\x00\x00\x00\x20ftypavif", "logo.svg": svg, "svg.txt": "\n" + svg, "p.pdf": "%PDF-1.4\n%\xe2\xe3", "script.js": "alert(1)", odd: "odd name",
		"short latin": "\xfc",
	}
	list := []enginetest.VersionFile{enginetest.OtherFile("d", domarkx.Directory, ""), enginetest.RegularFile("d/deep", "below"), enginetest.OtherFile("empty dir", domarkx.Directory, "")}
	for name, data := range files {
		list = append(list, enginetest.RegularFile(name, data))
	}
	list = append(list, enginetest.OtherFile("link", domarkx.Symlink, "../../etc/passwd<script>"), enginetest.OtherFile("pipe", domarkx.Fifo, ""))
	v := s.clone.Version("w", nil, list...)
	base := "/v/" + v.ID + "/notes"
	s.has(base, `/notes/d">d/<`, `/notes/a%22b%3Cc%3Ed&amp;e%23f%3Fg%25h"`, "a&quot;b&lt;c&gt;d&amp;e#f?g%h", "symbolic link", "FIFO", "15 bytes", "1.1 MiB", "!Nothing is in it.")
	s.has(base+"/", "/notes/d")
	s.has(base+"/empty%20dir", "Nothing is in it.")
	for name, want := range map[string][]string{
		"text":                        {"one\n&lt;b&gt;two&lt;/b&gt;\n", ">1\n2\n</span>", "!3\n</span>", "15 bytes"},
		"no%20newline":                {">1\n</span><code>x</code>"},
		"empty":                       {"0 bytes", "<code></code>", "!1\n</span>"},
		"umlauts":                     {"<code>grüße</code>"},
		"accent%20at%20the%20end":     {"<code>café</code>"},
		"emoji":                       {"<code>😀</code>"},
		"euros":                       {"€€€", "Only the beginning is shown.", "!\uFFFD"},
		"latin":                       {"It is not text."},
		"short%20latin":               {"It is not text."},
		"nul":                         {"It is not text."},
		"page.html":                   {"&lt;script&gt;"},
		"logo.svg":                    {"&lt;svg", "!<img"},
		"p.png":                       {`<img alt="p.png" src="` + base + `/p.png?raw=1"`},
		"g.gif":                       {`<img alt="g.gif" src="` + base + `/g.gif?raw=1"`},
		"link":                        {"../../etc/passwd&lt;script&gt;", ">symbolic link<", "!raw"},
		"d/deep":                      {"below", `<a href="` + base + `/d">d</a> / <b>deep</b></h1>`},
		"a%22b%3Cc%3Ed&e%23f%3Fg%25h": {"odd name"},
	} {
		s.has(base+"/"+name, want...)
	}
	const download = "application/octet-stream"
	for name, want := range map[string]struct{ kind, disposition string }{
		"text":      {"text/plain; charset=utf-8", ""},
		"page.html": {"text/plain; charset=utf-8", ""},
		"script.js": {"text/plain; charset=utf-8", ""},
		"empty":     {"text/plain; charset=utf-8", ""},
		"p.png":     {"image/png", ""},
		"g.gif":     {"image/gif", ""},
		"p.avif":    {"image/avif", ""},
		"logo.svg":  {download, "attachment; filename=logo.svg"},
		"svg.txt":   {download, "attachment; filename=svg.txt"},
		"p.pdf":     {download, "attachment; filename=p.pdf"},
		"nul":       {download, "attachment; filename=nul"},
	} {
		answer := s.ask(http.MethodGet, base+"/"+name+"?raw=1", nil)
		h := answer.Header()
		if answer.Code != http.StatusOK || answer.Body.String() != files[name] || h.Get("Content-Type") != want.kind || h.Get("Content-Disposition") != want.disposition {
			t.Errorf("%s: %d %v", name, answer.Code, h)
		}
		if policy := h.Get("Content-Security-Policy"); !strings.Contains(policy, "sandbox") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("%s: the policy is %q", name, policy)
		}
	}
	for address, status := range map[string]int{
		base + "/none": 404, base + "/d/none": 404, base + "/text/x": 404, base + "/link/x": 404, base + "/pipe": 400, base + "/pipe?raw=1": 400, base + "/d/../text": 404,
		"/v/" + v.ID + "/shell": 404, "/v/" + v.ID + "/shell/text": 404, base + "/text%00": 404, base + "/d%2fdeep%2fx": 404,
	} {
		s.fails(address, status)
	}
}

// TestRanges checks that parts of a file can be asked for, as browsers do, and only those that exist.
func TestRanges(t *testing.T) {
	s := newSite(t)
	v := s.clone.Version("w", nil, enginetest.RegularFile("n", "0123456789"))
	address := "/v/" + v.ID + "/notes/n?raw=1"
	for header, want := range map[string]struct {
		status int
		body   string
	}{
		"bytes=2-4":      {206, "234"},
		"bytes=-3":       {206, "789"},
		"bytes=8-":       {206, "89"},
		"bytes=8-99":     {206, "89"},
		"bytes=10-":      {416, ""},
		"bytes=4-2":      {416, ""},
		"bytes=x":        {416, ""},
		"lines=1-2":      {416, ""},
		"bytes=0-9,0-9":  {200, "0123456789"}, // longer than the whole
		"bytes=-9999999": {206, "0123456789"},
	} {
		answer := s.answer(http.MethodGet, address, func(r *http.Request) { r.Header.Set("Range", header) })
		if answer.Code != want.status || want.body != "" && answer.Body.String() != want.body {
			t.Errorf("%s: %d %q", header, answer.Code, answer.Body)
		}
	}
	if answer := s.ask(http.MethodHead, address, nil); answer.Code != 200 || answer.Body.Len() != 0 || answer.Header().Get("Content-Length") != "10" {
		t.Errorf("HEAD: %d %q %v", answer.Code, answer.Body, answer.Header())
	}
}

func TestLargeDirectory(t *testing.T) {
	if testing.Short() {
		t.Skip("5000 files")
	}
	s := newSite(t)
	var list []enginetest.VersionFile
	for i := range 5002 {
		list = append(list, enginetest.RegularFile(fmt.Sprintf("%04d", i), ""))
	}
	v := s.clone.Version("w", nil, list...)
	s.has("/v/"+v.ID+"/notes", "4999</a>", "!5000</a>", "… and 2 more")
}

func TestAttachments(t *testing.T) {
	s := newSite(t)
	digest := func(data string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(data))) }
	attach := func(path, data string) {
		t.Helper()
		if _, _, err := s.clone.Attach(t.Context(), "talk", path, strings.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	before := s.clone.Tip("talk").ID
	attach("d/logo.svg", svg)
	attach("p.png", png)
	attach("notes.txt", "plain <b>text</b>")
	s.has("/s/talk", "Attached files: 3", "d/logo.svg", "p.png", fmt.Sprintf("/a/talk?at=%s&amp;sha256=%s", s.clone.Tip("talk").ID, digest(png)))
	s.has("/s/talk?at="+before, "!Attached files")
	for data, want := range map[string]struct{ kind, disposition string }{
		svg:                 {"application/octet-stream", "attachment; filename=logo.svg"},
		png:                 {"image/png", ""},
		"plain <b>text</b>": {"text/plain; charset=utf-8", ""},
	} {
		answer := s.ask(http.MethodGet, "/a/talk?sha256="+digest(data), nil)
		h := answer.Header()
		if answer.Code != http.StatusOK || answer.Body.String() != data || h.Get("Content-Type") != want.kind || h.Get("Content-Disposition") != want.disposition || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%.10q: %d %v", data, answer.Code, h)
		}
	}
	for _, query := range []string{
		"", "sha256=", "sha256=" + digest("x"), "sha256=" + strings.ToUpper(digest(png)), "sha256=" + digest(png)[:63], "sha256=" + strings.Repeat("g", 64), "at=" + before + "&sha256=" + digest(png),
	} {
		s.fails("/a/talk?"+query, http.StatusNotFound)
	}
	s.fails("/a/talk?at=HEAD&sha256="+digest(png), http.StatusBadRequest)
	s.fails("/a/none?sha256="+digest(png), http.StatusNotFound)
}
