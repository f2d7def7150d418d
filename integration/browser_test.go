package integration_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// A browser is a Chromium that opens pages. It records their requests and complaints.
type browser struct {
	t       *testing.T
	proxy   *httptest.Server
	shots   string // directory of screenshots, which stays
	say     *os.File
	hear    *os.File
	heard   *bufio.Reader
	last    int             // id of the last command
	loaded  map[string]bool // documents that are loaded, by the id of their loader
	mu      sync.Mutex
	foreign []string // requests to hosts that only a page can have asked for
}

// screenshotsVariable names the directory in which tests keep screenshots.
const screenshotsVariable = "DOMARKX_SCREENSHOTS"

// console finds the lines of a page's console in Chromium's log.
var console = regexp.MustCompile(`(?m)^.*:CONSOLE.*$`)

// newBrowser starts Chromium, and ends it with the test. The test fails for whatever a page writes to the console.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, shots: os.Getenv(screenshotsVariable), loaded: map[string]bool{}}
	if b.shots == "" {
		b.shots = t.ArtifactDir()
	}
	b.proxy = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if strings.HasSuffix(host, ".example") { // Chromium itself asks for others
			b.mu.Lock()
			b.foreign = append(b.foreign, r.Method+" "+r.Host+r.URL.Path)
			b.mu.Unlock()
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(b.proxy.Close)
	cmd := exec.Command("chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--user-data-dir="+t.TempDir(), "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
		"--proxy-server="+b.proxy.URL, "--enable-logging=stderr", "--remote-debugging-pipe")
	pipe := func() (r, w *os.File) {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		return r, w
	}
	commands, say := pipe()
	hear, answers := pipe()
	var log strings.Builder
	cmd.ExtraFiles, cmd.Stderr, cmd.WaitDelay = []*os.File{commands, answers}, &log, 10*time.Second
	b.say, b.hear, b.heard = say, hear, bufio.NewReader(hear)
	err := cmd.Start()
	commands.Close()
	answers.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !t.Failed() {
			b.call("", "Browser.close", nil, nil)
		} else {
			_ = cmd.Process.Kill() // perhaps it does not answer
		}
		_ = cmd.Wait()
		say.Close()
		hear.Close()
		for _, line := range console.FindAllString(log.String(), -1) {
			t.Errorf("the console says: %s", line)
		}
		if t.Failed() {
			t.Logf("the log of Chromium:\n%s", log.String())
		}
	})
	return b
}

// maxAnswer is the timeout for an answer of Chromium.
const maxAnswer = 2 * time.Minute

// call gives Chromium a command of the DevTools protocol (https://chromedevtools.github.io/devtools-protocol/).
func (b *browser) call(session, method string, params map[string]any, result any) {
	b.t.Helper()
	b.last++
	command := map[string]any{"id": b.last, "method": method, "params": params}
	if session != "" {
		command["sessionId"] = session
	}
	data, err := json.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.say.Write(append(data, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for answer := b.receive(); ; answer = b.receive() {
		switch {
		case answer.ID != b.last:
		case answer.Error != nil:
			b.t.Fatalf("%s: %s", data, answer.Error)
		case result != nil:
			if err := json.Unmarshal(answer.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
			return
		default:
			return
		}
	}
}

// A devtoolsMessage is an answer, or an event.
type devtoolsMessage struct {
	ID            int
	Result, Error json.RawMessage
	Method        string
	Params        json.RawMessage
}

func (b *browser) receive() (m devtoolsMessage) {
	b.t.Helper()
	err := b.hear.SetReadDeadline(time.Now().Add(maxAnswer))
	if err != nil {
		b.t.Fatal(err)
	}
	data, err := b.heard.ReadBytes(0)
	if err == nil {
		err = json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m)
	}
	if err != nil {
		b.t.Fatalf("Chromium does not answer: %v", err)
	}
	if m.Method == "Page.lifecycleEvent" {
		var event struct{ LoaderID, Name string }
		if err := json.Unmarshal(m.Params, &event); err != nil {
			b.t.Fatalf("%s: %v", m.Params, err)
		}
		b.loaded[event.LoaderID] = b.loaded[event.LoaderID] || event.Name == "load"
	}
	return m
}

// A view is how a page is looked at.
type view struct {
	name          string
	width, height int
	scheme        string
}

// views are the ways in which pages are looked at: on a screen, in the dark, and on a phone.
var views = []view{{"light", 1000, 2000, "light"}, {"dark", 1000, 2000, "dark"}, {"phone", 500, 2000, "light"}}

// open opens a page, looks at it in some views, keeps the screenshots, and returns the document as it became. It fails for what the
// page asks of other hosts.
func (b *browser) open(name, url string, views ...view) string {
	b.t.Helper()
	var target struct{ TargetID string }
	b.call("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct{ SessionID string }
	b.call("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	page := func(method string, params map[string]any, result any) {
		b.t.Helper()
		b.call(attached.SessionID, method, params, result)
	}
	keep := func(file string, data []byte) {
		b.t.Helper()
		if err := os.WriteFile(filepath.Join(b.shots, file), data, 0o666); err != nil || len(data) < 4<<10 {
			b.t.Errorf("%s has %d bytes, %v", file, len(data), err)
		}
	}
	page("Page.enable", nil, nil)
	page("Page.setLifecycleEventsEnabled", map[string]any{"enabled": true}, nil)
	var opened struct{ LoaderID, ErrorText string }
	page("Page.navigate", map[string]any{"url": url}, &opened)
	if opened.ErrorText != "" {
		b.t.Fatalf("%s: %s", url, opened.ErrorText)
	}
	for !b.loaded[opened.LoaderID] {
		b.receive()
	}
	for _, v := range views {
		page("Emulation.setDeviceMetricsOverride", map[string]any{"width": v.width, "height": v.height, "deviceScaleFactor": 1, "mobile": false}, nil)
		page("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": v.scheme}}}, nil)
		var shot struct{ Data []byte }
		page("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
		keep(name+"-"+v.name+".png", shot.Data)
	}
	if len(views) > 1 {
		var print struct{ Data []byte }
		page("Page.printToPDF", map[string]any{"displayHeaderFooter": false}, &print)
		keep(name+".pdf", print.Data)
	}
	var dom struct{ Result struct{ Value string } }
	page("Runtime.evaluate", map[string]any{"expression": "document.documentElement.outerHTML"}, &dom)
	b.call("", "Target.closeTarget", map[string]any{"targetId": target.TargetID}, nil)
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.foreign) > 0 {
		b.t.Errorf("%s asked for %q", name, b.foreign)
		b.foreign = nil
	}
	return dom.Result.Value
}

// hostilePage is a session that does what pages should survive.
const hostilePage = "---\ntitle: \"</title><script>document.title='taken'</script>\"\n---\n\n## user\n\n" +
	"<script>document.title='taken'</script> <img src=https://evil.example/a.png onerror=alert(1)> ![p](https://evil.example/b.gif) [x](javascript:alert(1)) [y](data:text/html,<script>alert(1)</script>) \u202egpj.exe\n\n" +
	"<iframe src=https://evil.example/c></iframe>\n\n<link rel=stylesheet href=https://evil.example/d.css>\n\n<style>@import 'https://evil.example/e.css'</style>\n\n" +
	"<svg onload=alert(1)><image href=https://evil.example/f.png></svg>\n\n![s](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)\n\n" +
	"![ok](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==)\n\n" +
	"| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [x] done\n\n<meta http-equiv=refresh content='0;url=https://evil.example/g'>\n\n## assistant\n\n```thought\nHm.\n```\n\n" +
	"```tool-call\n{\"resource\": \"<b>\", \"tool\": \"</summary><script>alert(1)</script>\", \"arguments\": {\"command\": \"</pre><script>alert(1)</script>\"}}\n```\n\n" +
	"```tool-result\n{\"ok\": true, \"result\": \"</code><img src=https://evil.example/h.png>\"}\n```\n\n```diff\n@@ -1 +1 @@\n-<script>\n+</script>\n```\n\nDone.\n"

// inBrowser opens the pages of a site in Chromium, and an exported page, which runs nothing, asks for nothing and has nothing to
// complain of.
func inBrowser(t *testing.T, w *webSite) {
	b := newBrowser(t)
	page := filepath.Join(t.TempDir(), "hostile.html")
	w.domarkx("export", "--format", "html", "-o", page, "hostile")
	dom := b.open("page", "file://"+page, views...)
	if !strings.Contains(dom, "&lt;/title&gt;&lt;script&gt;document.title='taken'&lt;/script&gt;</title>") || !strings.Contains(dom, `<img alt="ok" src="data:image/png`) {
		t.Errorf("the page became\n%s", dom)
	}
	for _, never := range []string{"<script", "<iframe", "<svg", "<link", `src="http`} {
		if strings.Contains(dom, never) {
			t.Errorf("the page has %s", never)
		}
	}
	token := "token=" + strings.SplitN(w.address, "token=", 2)[1]
	version := "/v/" + strings.TrimSpace(w.run("git", "rev-parse", "refs/domarkx/workspaces/files"))
	for name, path := range map[string]string{"web-list": "/?", "web-search": "/?q=export&", "web-session": "/s/hostile?", "web-log": "/log/files?", "web-file": version + "/files/src/main.go?", "web-changes": strings.Replace(version, "/v/", "/c/", 1) + "?"} {
		looks := views
		if name != "web-list" && name != "web-session" {
			looks = views[:1]
		}
		dom := b.open(name, w.base+path+token, looks...)
		if !strings.Contains(dom, `<nav class="site">`) || strings.Contains(dom, "<h1>Forbidden") {
			t.Errorf("%s became\n%s", name, dom)
		}
	}
}

// A scratch is a repository in which commands run.
type scratch struct {
	t   *testing.T
	dir string
}

func newScratch(t *testing.T, dir string) *scratch {
	t.Helper()
	s := &scratch{t, dir}
	s.run("git", "init", "-q", "-b", "main", ".")
	return s
}

func (s *scratch) write(name, content string) {
	s.t.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scratch) domarkx(args ...string) string {
	s.t.Helper()
	return s.run(filepath.Join(program(s.t), "git-domarkx"), args...)
}

// command returns a command that sees only the repository's configuration.
func (s *scratch) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.com")
	return cmd
}

func (s *scratch) run(name string, args ...string) string {
	s.t.Helper()
	cmd := s.command(name, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("%s %q: %v\n%s", name, args, err, errs.String())
	}
	return string(out)
}
