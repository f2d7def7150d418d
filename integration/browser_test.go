package integration_test

import (
	"context"
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

// A browser opens pages in Chromium, and records their requests and complaints.
type browser struct {
	t       *testing.T
	proxy   *httptest.Server
	shots   string // directory of screenshots, which stays
	mu      sync.Mutex
	foreign []string // requests to hosts that only a page can have asked for
}

// screenshotsVariable names the directory in which tests keep screenshots.
const screenshotsVariable = "DOMARKX_SCREENSHOTS"

func newBrowser(t *testing.T) *browser {
	t.Helper()
	b := &browser{t: t, shots: os.Getenv(screenshotsVariable)}
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
	return b
}

// A view is how a page is looked at.
type view struct {
	name          string
	width, height string
	dark          bool
}

// views are the ways in which pages are looked at: on a screen, in the dark, and on a phone,
// which is as narrow as Chromium's windows can be.
var views = []view{{"light", "1000", "2000", false}, {"dark", "1000", "2000", true}, {"phone", "500", "2000", false}}

// console finds the lines of a page's console in Chromium's log.
var console = regexp.MustCompile(`(?m)^.*:CONSOLE.*$`)

// open opens a page in some views, keeps the screenshots, and returns the document as it became.
func (b *browser) open(name, url string, views ...view) string {
	b.t.Helper()
	for _, v := range views {
		shot := filepath.Join(b.shots, name+"-"+v.name+".png")
		args := []string{"--window-size=" + v.width + "," + v.height, "--screenshot=" + shot, url}
		if v.dark {
			args = append([]string{"--blink-settings=preferredColorScheme=0"}, args...)
		}
		b.run(args...)
		if info, err := os.Stat(shot); err != nil || info.Size() < 4<<10 {
			b.t.Errorf("%s: no screenshot: %v", name, err)
		}
	}
	if len(views) == 1 {
		return b.run("--dump-dom", url)
	}
	pdf := filepath.Join(b.shots, name+".pdf")
	b.run("--no-pdf-header-footer", "--print-to-pdf="+pdf, url)
	if info, err := os.Stat(pdf); err != nil || info.Size() < 4<<10 {
		b.t.Errorf("%s: no print: %v", name, err)
	}
	return b.run("--dump-dom", url)
}

// run runs Chromium once, fails for whatever a page writes to the console or asks of other
// hosts, and returns what Chromium prints.
func (b *browser) run(args ...string) string {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "chromium", append([]string{"--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
		"--user-data-dir=" + b.t.TempDir(), "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
		"--proxy-server=" + b.proxy.URL, "--enable-logging=stderr"}, args...)...)
	var out, log strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &log
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Run(); err != nil {
		b.t.Errorf("chromium %s: %v\n%s", args, err, log.String())
	}
	for _, line := range console.FindAllString(log.String(), -1) {
		b.t.Errorf("the console says: %s", line)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.foreign) > 0 {
		b.t.Errorf("the page asked for %q", b.foreign)
		b.foreign = nil
	}
	return out.String()
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

// TestPageInBrowser opens an exported page in Chromium: it runs nothing, asks for nothing
// and has nothing to complain of.
func TestPageInBrowser(t *testing.T) {
	t.Parallel()
	b := newBrowser(t)
	dir := t.TempDir()
	s := newScratch(t, dir)
	s.write("hostile.md", hostilePage)
	s.domarkx("import", "--format", "md", "hostile.md")
	s.domarkx("export", "--format", "html", "-o", "hostile.html", "hostile")
	dom := b.open("page", "file://"+filepath.Join(dir, "hostile.html"), views...)
	if !strings.Contains(dom, "&lt;/title&gt;&lt;script&gt;document.title='taken'&lt;/script&gt;</title>") || !strings.Contains(dom, `<img alt="ok" src="data:image/png`) {
		t.Errorf("the page became\n%s", dom)
	}
	for _, never := range []string{"<script", "<iframe", "<svg", "<link", `src="http`} {
		if strings.Contains(dom, never) {
			t.Errorf("the page has %s", never)
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
