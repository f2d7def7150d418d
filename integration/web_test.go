package integration_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	nethtml "golang.org/x/net/html"
)

// A webSite is a running "git domarkx web".
type webSite struct {
	*scratch
	address string // with the token
	base    string // without a slash at the end
	client  *http.Client
}

// newWebSite starts a server for a repository, and ends it with the test as a user does.
func newWebSite(s *scratch, options ...string) *webSite {
	s.t.Helper()
	cmd := s.command(filepath.Join(program(s.t), "git-domarkx"), append([]string{"web"}, options...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			s.t.Error(err)
		}
		if err := cmd.Wait(); err != nil {
			s.t.Errorf("the server ended with %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	w := &webSite{scratch: s, address: strings.TrimSpace(line)}
	if !regexp.MustCompile(`^http://127\.0\.0\.1:[0-9]+/\?token=[A-Z0-9]{26}$`).MatchString(w.address) {
		s.t.Fatalf("the address is %q", w.address)
	}
	w.base, _, _ = strings.Cut(w.address, "/?")
	jar, err := cookiejar.New(nil)
	if err != nil {
		s.t.Fatal(err)
	}
	w.client = &http.Client{Jar: jar, Timeout: time.Minute}
	if status, body, _ := w.get(strings.TrimPrefix(w.address, w.base)); status != http.StatusOK || !strings.Contains(body, "<h1>Sessions</h1>") {
		s.t.Fatalf("%d\n%s", status, body)
	}
	return w
}

// get asks for a page. Every answer must have the headers that keep it to itself.
func (w *webSite) get(path string) (status int, body string, header http.Header) {
	w.t.Helper()
	r, err := w.client.Get(w.base + path)
	if err != nil {
		w.t.Fatal(err)
	}
	defer r.Body.Close()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	w.checkHeaders(path, r.Header)
	return r.StatusCode, string(data), r.Header
}

func (w *webSite) checkHeaders(path string, h http.Header) {
	w.t.Helper()
	for name, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin"} {
		if h.Get(name) != want {
			w.t.Errorf("%s: %s is %q, want %q", path, name, h.Get(name), want)
		}
	}
	if csp := h.Get("Content-Security-Policy"); !strings.Contains(csp, "default-src 'none'") || !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "unsafe") {
		w.t.Errorf("%s: the policy is %q", path, csp)
	}
}

// shown is a repository with what pages show.
func shown(t *testing.T) *scratch {
	t.Helper()
	s := newScratch(t, t.TempDir())
	s.write("hostile.md", hostilePage)
	s.write("files.md", "---\ntitle: Files of a session\n---\n\n## user\n\nWrite.\n\n```workspace-config\nresources:\n  - type: filesystem\n    id: files\n```\n")
	var long strings.Builder
	for k := range 700 {
		fmt.Fprintf(&long, "## user\n\nprompt %d\n\n", k)
	}
	s.write("long.md", long.String())
	s.domarkx("import", "--format", "md", "hostile.md", "files.md", "long.md")
	s.domarkx("trust", "files")
	for _, f := range [][2]string{{"src/main.go", "package main\n\n// <script>alert(1)</script>\n"}, {"logo.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`}, {"page.html", "<!DOCTYPE html><script>alert(1)</script>"}, {"src/main.go", "package other\n"}} {
		s.domarkx("exec", "--yes", "files", "files", "write_file", "path="+f[0], "content="+f[1])
	}
	s.write("kept.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)
	s.domarkx("import", "--as", "kept", "--attach", "kept.svg", "files.md")
	s.domarkx("append", "--new", "-m", "Why does the **export** lack days?", "team/day-one's&co")
	s.domarkx("append", "--role", "assistant", "-m", "It reads `UTC` only.", "team/day-one's&co")
	return s
}

func TestWebGuard(t *testing.T) {
	t.Parallel()
	s := newScratch(t, t.TempDir())
	s.domarkx("append", "--new", "-m", "the secret of this session", "secret")
	w := newWebSite(s)
	port := w.base[strings.LastIndex(w.base, ":")+1:]
	var cookie *http.Cookie
	u, err := url.Parse(w.base)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range w.client.Jar.Cookies(u) {
		cookie = c
	}
	if cookie == nil || strings.Contains(w.address, cookie.Value) {
		t.Fatalf("the cookie is %v", cookie)
	}
	none := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	tests := map[string]struct {
		method, path, host string
		header             [2]string
		cookie             string
		want               int
	}{
		"own":                    {cookie: cookie.Value, want: 200},
		"localhost":              {cookie: cookie.Value, host: "localhost:" + port, want: 200},
		"typed address":          {cookie: cookie.Value, header: [2]string{"Sec-Fetch-Site", "none"}, want: 200},
		"head":                   {method: "HEAD", cookie: cookie.Value, want: 200},
		"no cookie":              {want: 403},
		"no cookie, session":     {path: "/s/secret", want: 403},
		"no cookie, live":        {path: "/live/secret?from=0", want: 403},
		"no cookie, missing":     {path: "/s/none", want: 403},
		"wrong cookie":           {cookie: "x" + cookie.Value[1:], want: 403},
		"wrong token":            {path: "/?token=AAAA", want: 403},
		"wrong token and cookie": {path: "/?token=", cookie: cookie.Value, want: 403},
		"another host":           {cookie: cookie.Value, host: "evil.example:" + port, want: 421},
		"another port":           {cookie: cookie.Value, host: "127.0.0.1:1", want: 421},
		"no port":                {cookie: cookie.Value, host: "127.0.0.1", want: 421},
		"another host, token":    {path: strings.TrimPrefix(w.address, w.base), host: "evil.example", want: 421},
		"another site":           {cookie: cookie.Value, header: [2]string{"Sec-Fetch-Site", "cross-site"}, want: 403},
		"another port's page":    {cookie: cookie.Value, header: [2]string{"Sec-Fetch-Site", "same-site"}, want: 403},
		"post":                   {method: "POST", cookie: cookie.Value, want: 405},
		"delete":                 {method: "DELETE", path: "/s/secret", cookie: cookie.Value, want: 405},
		"options":                {method: "OPTIONS", cookie: cookie.Value, want: 405},
		"missing session":        {path: "/s/none", cookie: cookie.Value, want: 404},
		"missing page":           {path: "/x", cookie: cookie.Value, want: 404},
		"path upwards":           {path: "/v/../../etc/passwd", cookie: cookie.Value, want: 404},
		"bad version":            {path: "/v/HEAD/", cookie: cookie.Value, want: 404},
		"a session's commit":     {path: "/v/" + strings.TrimSpace(s.run("git", "rev-parse", "refs/domarkx/sessions/secret")) + "/", cookie: cookie.Value, want: 404},
		"bad filter":             {path: "/?name=%5B", cookie: cookie.Value, want: 400},
		"token":                  {path: strings.TrimPrefix(w.address, w.base), want: 303},
		"token, linked":          {path: strings.TrimPrefix(w.address, w.base), header: [2]string{"Sec-Fetch-Site", "cross-site"}, want: 200},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if test.path == "" {
				test.path = "/"
			}
			r, err := http.NewRequest(test.method, w.base+test.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = test.host
			if test.header[0] != "" {
				r.Header.Set(test.header[0], test.header[1])
			}
			if test.cookie != "" {
				r.AddCookie(&http.Cookie{Name: cookie.Name, Value: test.cookie})
			}
			answer, err := none.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer answer.Body.Close()
			body, err := io.ReadAll(answer.Body)
			if err != nil || answer.StatusCode != test.want {
				t.Errorf("status %d, %v, want %d\n%s", answer.StatusCode, err, test.want, body)
			}
			w.checkHeaders(test.path, answer.Header)
			if test.want != 200 && strings.Contains(string(body), "the secret") {
				t.Error("the answer has something of the session")
			}
			for _, c := range answer.Cookies() {
				if c.SameSite != http.SameSiteStrictMode || !c.HttpOnly || !strings.HasPrefix(name, "token") {
					t.Errorf("cookie %v", c)
				}
			}
		})
	}
	// The token in an address with two slashes does not lead to another host.
	answer, err := none.Get(w.base + "//evil.example/?" + strings.SplitN(w.address, "?", 2)[1])
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if to := answer.Header.Get("Location"); to != "/" {
		t.Errorf("it leads to %q", to)
	}
}

// TestWeb looks at the pages of one repository in different ways.
func TestWeb(t *testing.T) {
	t.Parallel()
	w := newWebSite(shown(t))
	for name, look := range map[string]func(*testing.T, *webSite){"pages": webPages, "files": webFiles, "browser": inBrowser} {
		t.Run(name, func(t *testing.T) {
			scratch, site := *w.scratch, *w
			scratch.t, site.scratch = t, &scratch
			look(t, &site)
		})
	}
}

// webPages follows all links from the first page, and checks that every page is there and
// harmless.
func webPages(t *testing.T, w *webSite) {
	pages := map[string]string{}
	queue := []string{"/", "/?q=export", "/?q=%3Cscript%3E", "/?agent=none", "/?sort=name", "/?q=%22", "/w/"}
	for len(queue) > 0 {
		path := queue[0]
		queue = queue[1:]
		if _, seen := pages[path]; seen {
			continue
		}
		status, body, header := w.get(path)
		pages[path] = body
		if status != http.StatusOK {
			t.Errorf("%s: status %d\n%s", path, status, body)
			continue
		}
		if !strings.HasPrefix(header.Get("Content-Type"), "text/html") {
			continue
		}
		doc, err := nethtml.Parse(strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for n := range doc.Descendants() {
			if n.Type != nethtml.ElementNode {
				continue
			}
			if n.Data == "iframe" || n.Data == "svg" || n.Data == "link" || n.Data == "script" && len(n.Attr) > 0 {
				t.Errorf("%s: element %s", path, n.Data)
			}
			for _, a := range n.Attr {
				switch {
				case strings.HasPrefix(a.Key, "on"), a.Key == "style":
					t.Errorf("%s: <%s %s>", path, n.Data, a.Key)
				case a.Key == "src" && !strings.HasPrefix(a.Val, "data:image/") && !strings.HasPrefix(a.Val, "/v/"):
					t.Errorf("%s: %s from %s", path, n.Data, a.Val)
				case a.Key == "href" && strings.HasPrefix(a.Val, "/"):
					to, _, _ := strings.Cut(a.Val, "#")
					queue = append(queue, to)
				case a.Key == "href" && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "https://") && !strings.HasPrefix(a.Val, "mailto:"):
					t.Errorf("%s: link to %s", path, a.Val)
				}
			}
		}
	}
	version := strings.TrimSpace(w.run("git", "rev-parse", "refs/domarkx/workspaces/files"))
	for path, want := range map[string]string{
		"/":                                    "Files of a session</a>",
		"/?q=export":                           "lack days?",
		"/s/team/day-one%27s&co":               "<strong>export</strong>",
		"/log/files":                           "exec assistant",
		"/s/long":                              "Page 3 of 3, messages 600 to 699",
		"/s/long?page=1":                       ">prompt 0</a>",
		"/w/files":                             "call",
		"/v/" + version + "/":                  `/files">files</a>`,
		"/v/" + version + "/files":             "logo.svg</a>",
		"/v/" + version + "/files/src/main.go": "package other",
		"/c/" + version:                        `<span class="del">-// &lt;script&gt;alert(1)&lt;/script&gt;`,
		"/diff/team/day-one%27s&co?b=" + strings.TrimSpace(w.run("git", "rev-parse", "refs/domarkx/sessions/team/day-one's&co")): `<span class="add">+It reads`,
	} {
		if !strings.Contains(pages[path], want) {
			t.Errorf("%s has no %q:\n%s", path, want, pages[path])
		}
	}
	if !strings.Contains(pages["/?q=export"], "<mark>export</mark>") || strings.Contains(pages["/?agent=none"], "Files of a session") {
		t.Error("search or filters do not work")
	}
	// Messages have addresses of their own.
	status, body, _ := w.get("/m/long?k=350")
	if status != http.StatusOK || !strings.Contains(body, ">prompt 350</p>") {
		t.Errorf("message 350: %d", status)
	}
}

// TestWebOpens lets the command open a browser, which is a script. The token is not in the arguments of a process.
func TestWebOpens(t *testing.T) {
	s := newScratch(t, t.TempDir())
	s.domarkx("append", "--new", "-m", "one", "talk")
	file := func(name string) string { return filepath.Join(s.dir, name) }
	read := func(name string) string {
		t.Helper()
		data, err := os.ReadFile(file(name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	s.write("browser", "#!/bin/sh\necho \"$@\" >args.tmp && cat \"$2\" >page.tmp && stat -c %a \"$2\" >mode && mv args.tmp args && mv page.tmp page\n")
	if err := os.Chmod(file("browser"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BROWSER", "/nonexistent/browser:"+file("browser")+" --new %s")
	w := newWebSite(s, "--open")
	eventually(t, "the browser was started", func() bool { _, err := os.Stat(file("page")); return err == nil })
	token := strings.TrimPrefix(w.address, w.base+"/?token=")
	if page := read("page"); !strings.Contains(page, `content="0;url=`+w.address+`"`) {
		t.Errorf("the page is %s", page)
	}
	if args := read("args"); strings.Contains(args, token) || !strings.HasPrefix(args, "--new /") {
		t.Errorf("the arguments are %s", args)
	}
	if mode := strings.TrimSpace(read("mode")); mode != "600" {
		t.Errorf("the mode of the page is %s", mode)
	}
}

// webFiles checks that files of a version and attachments are sent so that nothing in them runs.
func webFiles(t *testing.T, w *webSite) {
	version := "/v/" + strings.TrimSpace(w.run("git", "rev-parse", "refs/domarkx/workspaces/files")) + "/files/"
	_, page, _ := w.get("/s/kept")
	kept := regexp.MustCompile(`href="(/a/kept\?[^"]*)"`).FindStringSubmatch(page)
	if kept == nil {
		t.Fatalf("no attachment in\n%s", page)
	}
	for path, want := range map[string]struct{ kind, disposition, body string }{
		version + "src/main.go?raw=1":             {"text/plain; charset=utf-8", "", "package other"},
		version + "page.html?raw=1":               {"text/plain; charset=utf-8", "", "<script>"},
		version + "logo.svg?raw=1":                {"application/octet-stream", "attachment; filename=logo.svg", "<svg"},
		strings.ReplaceAll(kept[1], "&amp;", "&"): {"application/octet-stream", "attachment; filename=kept.svg", "<svg"},
	} {
		status, body, header := w.get(path)
		if status != http.StatusOK || header.Get("Content-Type") != want.kind || header.Get("Content-Disposition") != want.disposition || !strings.Contains(body, want.body) {
			t.Errorf("%s: %d %v\n%s", path, status, header, body)
		}
		if !strings.Contains(header.Get("Content-Security-Policy"), "sandbox") {
			t.Errorf("%s: no sandbox", path)
		}
	}
	for _, path := range []string{version + "none", version + "src/none", version + "../files", strings.Replace(version, "/files/", "/other/", 1), "/a/kept?sha256=" + strings.Repeat("0", 64), "/a/kept?sha256=../x"} {
		if status, body, _ := w.get(path); status != http.StatusNotFound {
			t.Errorf("%s: %d\n%s", path, status, body)
		}
	}
}

// TestWebLive checks that messages appear as they are recorded.
func TestWebLive(t *testing.T) {
	t.Parallel()
	s := newScratch(t, t.TempDir())
	s.domarkx("append", "--new", "-m", "one", "talk")
	w := newWebSite(s)
	_, page, _ := w.get("/s/talk")
	live := regexp.MustCompile(`data-live="([^"]*)"`).FindStringSubmatch(page)
	if live == nil {
		t.Fatalf("no address of new messages in\n%s", page)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.base+strings.ReplaceAll(live[1], "&amp;", "&"), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := w.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("type %q", kind)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	next := func(prefix string) string {
		t.Helper()
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return rest
			}
		}
		t.Fatalf("no event %q: %v", prefix, lines.Err())
		return ""
	}
	s.domarkx("append", "--role", "assistant", "-m", "two <script>", "talk")
	var html string
	if err := json.Unmarshal([]byte(next("data: ")), &html); err != nil || !strings.Contains(html, "<p>two &lt;script&gt;</p>") {
		t.Errorf("%v, %s", err, html)
	}
	s.domarkx("append", "-m", "three", "talk")
	if err := json.Unmarshal([]byte(next("data: ")), &html); err != nil || !strings.Contains(html, "<p>three</p>") || strings.Contains(html, "<p>one</p>") {
		t.Errorf("%v, %s", err, html)
	}
	s.domarkx("rewind", "talk#0")
	if event := next("event: "); event != "changed" {
		t.Errorf("event %q", event)
	}
}
