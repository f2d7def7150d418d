package html_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/format/jsonvalue"
	nethtml "golang.org/x/net/html"
)

// messages are messages with ids that count from 1.
type messages []domarkx.Message

func (m messages) Len() int { return len(m) }

func (m messages) At(k int) (domarkx.WrittenMessage, error) {
	return domarkx.WrittenMessage{Message: m[k], ID: idOf(k), Date: 1772359200 + int64(k)*60}, nil
}

func idOf(k int) domarkx.ID {
	return domarkx.ID{12: byte(k >> 24), 13: byte(k >> 16), 14: byte(k >> 8), 15: byte(k) + 1}
}

func text(role domarkx.Role, s string) domarkx.Message {
	return domarkx.Message{Role: role, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: s}}}
}

func code(language, s string) domarkx.Block {
	return domarkx.Block{Type: domarkx.CodeBlock, Language: language, Text: s}
}

func says(blocks ...domarkx.Block) domarkx.Message {
	return domarkx.Message{Role: domarkx.Assistant, Content: blocks}
}

func with(m domarkx.Message, metadata string) domarkx.Message {
	v, err := jsonvalue.ParseValue([]byte(metadata))
	if err != nil {
		panic(err)
	}
	m.Metadata = &v
	return m
}

func write(t *testing.T, s html.Session) string {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, s); err != nil {
		t.Fatal(err)
	}
	check(t, b.String())
	return b.String()
}

func session(all ...domarkx.Message) html.Session {
	return html.Session{Name: "talk", Header: domarkx.NewHeader(), Messages: messages(all)}
}

// check parses a page as browsers do, and fails if it has anything that is not known to be
// harmless: other elements or attributes, addresses to elsewhere outside links, unsafe links,
// anchors that lead nowhere, and ids that are there twice.
func check(t *testing.T, page string) {
	t.Helper()
	doc, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	elements := " html head meta title style body div header footer main nav article details summary h1 h2 h3 h4 h5 h6 p span a b i em strong del code pre ol ul li dl dt dd table thead tbody tr th td blockquote hr br img input time "
	attributes := " lang charset http-equiv content name class id href rel title datetime open alt src start align type checked disabled data-language "
	ids := map[string]bool{}
	var anchors []string
	for n := range doc.Descendants() {
		if n.Type == nethtml.CommentNode {
			t.Errorf("comment %q", n.Data)
		}
		if n.Type != nethtml.ElementNode {
			continue
		}
		if !strings.Contains(elements, " "+n.Data+" ") {
			t.Errorf("element %s", n.Data)
		}
		for _, a := range n.Attr {
			switch {
			case !strings.Contains(attributes, " "+a.Key+" "):
				t.Errorf("<%s %s=%.60q>", n.Data, a.Key, a.Val)
			case a.Key == "src" && !regexp.MustCompile(`^data:image/(png|jpeg|gif|webp|avif);base64,[A-Za-z0-9+/=]+$`).MatchString(a.Val):
				t.Errorf("image from %.60q", a.Val)
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("id %q twice", a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			case a.Key == "href" && strings.HasPrefix(a.Val, "#"):
				anchors = append(anchors, a.Val[1:])
			case a.Key == "href" && !regexp.MustCompile(`^(https?://|mailto:|([^:/]+/|\.\./)?[^:/?#]+\.html(#[0-9a-f-]+)?$|/f/)`).MatchString(a.Val):
				t.Errorf("link to %q", a.Val)
			case a.Key == "href" && strings.Contains(a.Val, ":") && !hasAttr(n, "rel", "noreferrer noopener"):
				t.Errorf("link to %q that sends a referrer", a.Val)
			case a.Key == "content" && hasAttr(n, "http-equiv", "refresh"):
				t.Errorf("refresh")
			}
		}
	}
	for _, a := range anchors {
		if !ids[a] {
			t.Errorf("link to the missing anchor %q", a)
		}
	}
	if !strings.Contains(page, `<meta http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; img-src data:; style-src &#39;sha256-`) {
		t.Error("no policy")
	}
}

func hasAttr(n *nethtml.Node, key, value string) bool {
	for _, a := range n.Attr {
		if a.Key == key && a.Val == value {
			return true
		}
	}
	return false
}

const pixel = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestMarkdown(t *testing.T) {
	tests := map[string]struct{ source, want, never string }{
		"emphasis":             {"a **b** _c_ ~~d~~", "a <strong>b</strong> <em>c</em> <del>d</del>", ""},
		"heading":              {"# one\n\n###### six", "<h3>one</h3><h6>six</h6>", "<h1>six"},
		"table":                {"|a|b|\n|-|-:|\n|1|2|", `<td align="right">2</td>`, "style="},
		"raw block":            {"<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;", ""},
		"raw block, unclosed":  {"<!-- hidden", "&lt;!-- hidden", ""},
		"raw inline":           {"a <b onclick=x>c</b>", "a &lt;b onclick=x&gt;c&lt;/b&gt;", ""},
		"details":              {"<details>\n\ntext\n\n</details>", "&lt;details&gt;", ""},
		"link":                 {"[a](https://example.com/?a=1&b=2)", `<a rel="noreferrer noopener" href="https://example.com/?a=1&amp;b=2">a</a>`, ""},
		"mail":                 {"<a@example.com>", `href="mailto:a@example.com">a@example.com</a>`, ""},
		"bare address":         {"see https://example.com/x.", `href="https://example.com/x">`, ""},
		"script link":          {"[a](javascript:alert(1))", ">a</span>", "href=\"java"},
		"hidden script link":   {"[a](<java\tscript:alert(1)>) [b](JaVaScRiPt:x) [c](&#106;avascript:x)", ">a</span>", "href=\"J"},
		"data link":            {"[a](data:text/html,<script>)", ">a</span>", ""},
		"relative link":        {"[a](../secret.html) [b](//evil.example/x)", ">b</span>", ""},
		"file link":            {"[a](file:///etc/passwd)", ">a</span>", ""},
		"quote in link":        {`[a](https://e.com/"onmouseover="x)`, `https://e.com/&quot;onmouseover=&quot;x"`, ""},
		"remote image":         {"![p](https://evil.example/p.gif)", `<a rel="noreferrer noopener" href="https://evil.example/p.gif">image: p</a>`, "<img"},
		"image":                {"![p](" + pixel + ")", `<img alt="p" src="` + pixel + `">`, ""},
		"image that is SVG":    {"![p](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)", "image: p", "<img"},
		"AVIF":                 {"![p](data:image/avif;base64,AAAAIGZ0eXBhdmlm)", `<img alt="p" src="data:image/avif;base64,AAAA`, ""},
		"SVG that says PNG":    {"![p](data:image/png;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)", "image: p", "<img"},
		"broken Base64":        {"![p](data:image/png;base64,QQ=Q)", "image: p", "<img"},
		"image without Base64": {"![p](data:image/png,x)", "image: p", "<img"},
		"large image":          {"![p](data:image/png;base64," + strings.Repeat("AAAA", 4<<20) + ")", "image: p", "<img"},
		"raw block, closed":    {"<!-- a\n--> b <i>", "&lt;!-- a\n--&gt; b &lt;i&gt;", ""},
		"deep quotes":          {strings.Repeat(">", 5000) + " **x**", "**x**", "<blockquote>"},
		"deep by tabs":         {"- a\n" + strings.Repeat("\t- ", 300) + "**x**", "**x**", "<strong>"},
		"many brackets":        {strings.Repeat("[", 20_000) + "**x**", "**x**", "<strong>"},
		"kept image":           {"![p](images/a%20b.png)", `<img alt="p" src="data:image/png;base64,iVBO`, ""},
		"unknown image":        {"![p](images/none.png)", "image: p", "<img"},
		"direction":            {"a \u202egpj.exe\u202c", "a ⟨U+202E⟩gpj.exe⟨U+202C⟩", "\u202e"},
		"directions":           {"a\u202e\u202e\u202e\u202cb", "a⟨U+202E ×3⟩⟨U+202C⟩b", "\u202e"},
		"in code":              {"`a\u2066b`", "⟨U+2066⟩", "\u2066"},
		"by reference":         {"a &#x202e;gpj &#27;[1mx &rlm;&#65279;", "a ⟨U+202E⟩gpj x \u200f⟨U+FEFF⟩", "\u202e"},
		"reference in link":    {"[a](https://e.com/?a=1&amp;b=&#x202e;) [b](&#106;avascript:x)", `href="https://e.com/?a=1&amp;b=⟨U+202E⟩">a</a> <span class="nolink" title="javascript:x">`, "\u202e"},
		"reference in image":   {"![a &amp; b](images/a&#32;b.png)", `<img alt="a &amp; b" src="data:`, ""},
		"badge":                {"[![p](https://e.com/p.svg) <https://b.example>](https://ci.example/)", `href="https://ci.example/"><span class="image">image: p</span> https://b.example</a>`, "e.com"},
		"badge without link":   {"[![p](https://e.com/p.svg)](ci)", `<a rel="noreferrer noopener" href="https://e.com/p.svg">image: p</a>`, ""},
		"hidden tags":          {"a\U000e0041b", "⟨U+E0041⟩", ""},
		"control characters":   {"a\x00b\x07c\x1b[31mred\x1b[0m\x1b]0;x\x07", "a␀b␇credit", ""},
		"not UTF-8":            {"a\xffb\xed\xa0\x80", "a\ufffdb", ""},
		"diff":                 {"```diff\n@@ -1 +1 @@\n-<a>\n+b\n```", `<span class="hunk">@@ -1 +1 @@` + "\n</span>" + `<span class="del">-&lt;a&gt;` + "\n</span>" + `<span class="add">+b`, ""},
		"code":                 {"```go\nx < y && \"z\"\n```", `<pre><code data-language="go">x &lt; y &amp;&amp; &quot;z&quot;`, ""},
		"language":             {"```\"><script>\nx\n```", `data-language="&quot;&gt;&lt;script&gt;"`, ""},
		"right to left":        {"عربي 数据库 \u200fx", "عربي 数据库 \u200fx", ""},
	}
	tests["control characters"] = struct{ source, want, never string }{"a\x00b\x07c\x1b[31mred\x1b[0m\x1b]0;x\x07", "a␀b␇cred␛]0;x␇", "\x1b"}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := session(text(domarkx.User, test.source))
			s.File = func(path string) ([]byte, error) {
				if path == "images/a b.png" {
					return []byte("\x89PNG\r\n\x1a\n"), nil
				}
				return nil, domarkx.ErrNotFound
			}
			page := write(t, s)
			if !strings.Contains(page, test.want) || test.never != "" && strings.Contains(page, test.never) {
				_, main, _ := strings.Cut(page, "<main>")
				t.Errorf("%s\nwant %q, never %q", main, test.want, test.never)
			}
		})
	}
}

func TestMessages(t *testing.T) {
	call := code("tool-call", `{"resource":"claude-code","tool":"Edit","id":"t","arguments":{"file_path":"a.go","old_string":"x <\ny","new_string":"z"}}`)
	tests := map[string]struct {
		message domarkx.Message
		want    []string
	}{
		"anchor":       {text(domarkx.User, "hi"), []string{`<article class="user" id="` + idOf(0).String() + `">`, `<li><a href="#` + idOf(0).String() + `">hi</a><time datetime="2026-03-01T10:00:00Z">`}},
		"call":         {says(call, code("tool-result", `{"ok":true,"result":"done"}`)), []string{`<details class="call"><summary><span class="tool">Edit</span> <span class="brief">a.go</span></summary>`, `<span class="del">-x &lt;`, `<span class="add">+z`, "<code>done</code>"}},
		"failed call":  {says(call, code("tool-result", `{"ok":false,"error":{"code":"timeout","message":"<slow>"}}`)), []string{`<details class="call failed">`, `<span class="status">timeout</span>`, "&lt;slow&gt;"}},
		"pending call": {says(call), []string{`<span class="status">no result</span>`}},
		"command":      {says(code("tool-call", `{"resource":"sh","tool":"exec","arguments":{"command":"ls | wc","timeout":5}}`), code("tool-result", `{"ok":true,"result":{"stdout":"3\n","stderr":"oh","exit_code":0}}`)), []string{`<span class="brief">ls | wc</span>`, "<dt>timeout</dt><dd>5</dd>", "<code>3\n</code>", `stderr</p><pre><code>oh`, `&quot;exit_code&quot;: 0`}},
		"bad call":     {says(code("tool-call", `{"tool`)), []string{`<code data-language="tool-call">{&quot;tool</code>`}},
		"bad result":   {says(call, code("tool-result", `<none>`)), []string{"&lt;none&gt;"}},
		"lone result":  {says(code("tool-result", `{"ok":true,"result":[1]}`)), []string{`<span class="tool">Result</span>`}},
		"thought":      {says(code("thought", "Hm **so**\nmore")), []string{`<details class="thought"><summary>Thought <span class="brief">Hm **so** …</span></summary>`, "<strong>so</strong>"}},
		"diff result":  {says(call, code("tool-result", `{"ok":true,"result":"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"}`)), []string{`<span class="file">diff --git a/x b/x`, `<span class="add">+b`}},
		"usage":        {with(says(), `{"model":"m<","usage":{"input":2,"cache_read":1500,"output":30}}`), []string{"<span>m&lt;</span>", `<span class="tokens">1.5k in (1.5k cached) · 30 out · $2.00</span>`}},
		"recorded":     {with(says(), `{"model":"m","usage":{"input":2},"cost":0.25}`), []string{"$0.25"}},
		"conflict":     {with(says(), `{"conflict":"aa"}`), []string{"One of several texts"}},
		"named code":   {says(domarkx.Block{Type: domarkx.CodeBlock, Language: "python", Name: "a<b", HasName: true, Text: "x"}), []string{`<p class="label">a&lt;b</p>`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := session(test.message)
			s.Cost = func(model string, u html.Usage) (float64, bool) { return float64(u.Input), true }
			page := write(t, s)
			for _, want := range test.want {
				if !strings.Contains(page, want) {
					_, main, _ := strings.Cut(page, "<main>")
					t.Errorf("%s\nwant %q", main, want)
				}
			}
		})
	}
}

// TestPrompts checks that the table of prompts shows a line of text.
func TestPrompts(t *testing.T) {
	for source, want := range map[string]string{
		"a\nb":                                  "a …",
		"\n\n  ## a  ":                          "a",
		"**a** `b`":                             "a b",
		"see [x](https://a.b) [y](c)":           "see x y",
		"![shot](" + pixel + ")":                "image: shot",
		"![](" + strings.Repeat("x", 300) + ")": "image:",
		"[a [b](c":                              "[a b",
		"[](":                                   "(empty)",
		"":                                      "(empty)",
		strings.Repeat("ä", 200):                strings.Repeat("ä", 160) + "…",
	} {
		if page := write(t, session(text(domarkx.User, source))); !strings.Contains(page, `">`+want+"</a><time") {
			nav := page[strings.Index(page, "<nav"):strings.Index(page, "</nav>")]
			t.Errorf("%.50q: want %q in %s", source, want, nav)
		}
	}
}

func TestHeader(t *testing.T) {
	s := session(text(domarkx.User, "first `x`\nmore"), with(text(domarkx.Assistant, "a"), `{"model":"m","usage":{"output":5}}`), with(text(domarkx.Assistant, "b"), `{"model":"n","usage":{"output":6},"cost":1}`))
	s.Snapshot = "0123456789abcdef0123456789abcdef01234567"
	s.Version = func(k int) string { return map[int]string{1: "1"}[k] }
	s.Files = func(version string) string { return "/f/" + version }
	page := write(t, s)
	for _, want := range []string{"<title>first x …</title>", "<h1>first x …</h1>", "<span>talk</span>", ">0123456789</span>", "<span>m</span> <span>n</span>", "3 messages", "11 out · $1.00 where the price is known", "1 prompt<", `<a href="/f/1">files</a>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page[strings.Index(page, "<body>"):])
		}
	}
	title := jsonvalue.ObjectValue(jsonvalue.Member{Name: "title", Value: jsonvalue.StringValue("</title><script>")})
	s.Header.UserMetadata = &title
	if page := write(t, s); !strings.Contains(page, "<title>&lt;/title&gt;&lt;script&gt;</title>") {
		t.Error(page[:500])
	}
	write(t, session())
}

// twice are two texts of one message.
type twice struct{ messages }

func (m twice) At(int) (domarkx.WrittenMessage, error) { return m.messages.At(0) }

func TestConflictAnchors(t *testing.T) {
	s := session(text(domarkx.User, "a"), text(domarkx.User, "b"))
	s.Messages = twice{s.Messages.(messages)}
	if page := write(t, s); !strings.Contains(page, `id="`+idOf(0).String()+`-2"`) {
		t.Error("the second text has no anchor")
	}
}

// TestHostile checks that pages of hostile messages are made in time, and are harmless.
func TestHostile(t *testing.T) {
	size := 1 << 20
	if testing.Short() { // all of them take seconds
		size = 1 << 16
	}
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	large := func(s string) string { return strings.Repeat(s, 10*size/len(s)) }
	tests := map[string]string{
		"text": large("word "), "one line": large("["), "turned": large("\u202e"), "quotes": repeat("> "), "quoted lines": repeat("> a\n"), "nested lists": repeat("- "), "brackets": repeat("["), "images": repeat("![a]("),
		"links": repeat("[a](b) "), "stars": repeat("*a "), "underscores": repeat("_a"), "backticks": repeat("` `` "), "entities": repeat("&amp;"), "tags": repeat("<a "), "comments": repeat("<!--"),
		"tables": repeat("|a|a\n"), "tilde": repeat("~~a"), "addresses": repeat("http://a.b/ "), "mails": repeat("a@b.c "), "fences": repeat("```\n"), "backslashes": repeat(`\`), "definitions": repeat("[a]: b\n"),
		"lines": repeat("\n"), "numbers": repeat("1. a\n"), "indented": repeat("        "), "directions": repeat("\u202e"), "zeros": repeat("\x00"), "escapes": repeat("\x1b["), "invalid": repeat("\xff"), "headings": repeat("# a\n"), "setext": repeat("a\n=\n"), "www": repeat("www.a."),
	}
	for name, source := range tests {
		t.Run(name, func(t *testing.T) {
			for _, s := range []string{source, source[:size/10]} {
				start := time.Now()
				var b bytes.Buffer
				if err := html.Write(&b, session(text(domarkx.User, s), says(code("tool-call", s), code("tool-result", s)), says(code("thought", s)))); err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("%d bytes took %v", len(s), took)
				}
				if b.Len() > 20*3*len(s)+1<<20 {
					t.Errorf("%d bytes became %d", len(s), b.Len())
				}
				if len(s) == size/10 {
					check(t, b.String())
				}
			}
		})
	}
}

func TestPages(t *testing.T) {
	var all messages
	for k := range 2500 {
		if k == 1200 {
			all = append(all, text(domarkx.Assistant, strings.Repeat("long ", 400_000)))
			continue
		}
		all = append(all, text(domarkx.User, fmt.Sprintf("prompt %d", k)))
	}
	s := session(all...)
	pages := map[string]string{}
	index, err := html.WritePages(s, "talk & more.pages", "../talk & more.html", func(name string, data []byte) error {
		if pages[name] != "" || !html.IsPage(name) {
			t.Errorf("page %s", name)
		}
		pages[name] = string(data)
		return nil
	})
	if err != nil || len(pages) != 4 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	check(t, string(index))
	for _, page := range pages {
		check(t, page)
	}
	for _, want := range []string{`href="talk%20&amp;%20more.pages/1.html">Page 1</a>`, `href="talk%20&amp;%20more.pages/3.html#` + idOf(1201).String(), "Messages 1000 to 1200", "… and 950 more", "2500 messages"} {
		if !strings.Contains(string(index), want) {
			t.Errorf("the index has no %q", want)
		}
	}
	for _, want := range []string{`href="../talk%20&amp;%20more.html"`, `<a href="1.html">← Page 1</a>`, `<a href="3.html">Page 3 →</a>`, "prompt 1000<", "long long"} {
		if !strings.Contains(pages["2.html"], want) {
			t.Errorf("page 2 has no %q", want)
		}
	}
	if strings.Contains(pages["4.html"], "Page 5") || !strings.Contains(pages["4.html"], "prompt 2499<") {
		t.Error("page 4 is not the last one")
	}
	if index, err = html.WritePages(s, "a:b.pages", "../a:b.html", func(string, []byte) error { return nil }); err != nil || !strings.Contains(string(index), `href="./a:b.pages/1.html"`) {
		t.Errorf("a name with a colon: %v", err)
	}
	wrong := errors.New("disk full")
	if _, err := html.WritePages(s, "d", "i.html", func(string, []byte) error { return wrong }); !errors.Is(err, wrong) {
		t.Error(err)
	}
	for _, name := range []string{"", "0.html", "01.html", "-1.html", "1.htm", "a.html", "1.html.bak", "1 .html"} {
		if html.IsPage(name) {
			t.Errorf("%q is a page", name)
		}
	}
}

type unreadable struct{ messages }

func (unreadable) At(int) (domarkx.WrittenMessage, error) {
	return domarkx.WrittenMessage{}, domarkx.ErrCorrupt
}

func TestUnreadable(t *testing.T) {
	s := session()
	s.Messages = unreadable{messages{{}}}
	var b bytes.Buffer
	if err := html.Write(&b, s); !errors.Is(err, domarkx.ErrCorrupt) || b.Len() > 0 {
		t.Errorf("%d bytes, %v", b.Len(), err)
	}
}

var _ format.Messages = messages(nil)

func FuzzWrite(f *testing.F) {
	for _, seed := range []string{"# a\n\n<script>", "[a](javascript:x)", "![](data:image/png;base64,AA==)", "|a|\n|-|\n", "```diff\n+a", "<a href='x'", "\u202e&lt;", "http://a.b/\"x", "- [ ] a", "[a]: javascript:x\n\n[a]", "<https://a.b/>", "![[a](b)](c)"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var b bytes.Buffer
		err := html.Write(&b, session(text(domarkx.User, s), says(code("tool-call", s), code("tool-result", s), code("thought", s), code(s, s))))
		if err != nil {
			t.Fatal(err)
		}
		check(t, b.String())
	})
}

func BenchmarkWrite(b *testing.B) {
	var all messages
	for k := range 10_000 {
		if k%2 == 0 {
			all = append(all, text(domarkx.User, fmt.Sprintf("Why is **%d** slow?\n\nSee `main.go`.", k)))
			continue
		}
		all = append(all, says(domarkx.Block{Type: domarkx.TextBlock, Text: strings.Repeat("One query for *each* item, and a [link](https://example.com/).\n\n- a\n- b\n\n", 3)},
			code("tool-call", `{"resource":"sh","tool":"exec","arguments":{"command":"go test ./..."}}`), code("tool-result", `{"ok":true,"result":"`+strings.Repeat(`ok  \tshop\t0.2s\n`, 10)+`"}`)))
	}
	for b.Loop() {
		if err := html.Write(&bytes.Buffer{}, session(all...)); err != nil {
			b.Fatal(err)
		}
	}
}
