package web_test

import (
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// page gets a page, which must exist and be safe.
func (s *site) page(address string) string {
	s.t.Helper()
	answer := s.ask(http.MethodGet, address, nil)
	if answer.Code != http.StatusOK {
		s.t.Fatalf("%s: status %d\n%s", address, answer.Code, content(answer.Body.String()))
	}
	s.safe(address, answer.Body.String())
	return answer.Body.String()
}

// safe checks that nothing in a page runs, or leads elsewhere.
func (s *site) safe(address, body string) {
	s.t.Helper()
	doc, err := nethtml.Parse(strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.Type != nethtml.ElementNode {
			continue
		}
		switch n.Data {
		case "iframe", "object", "embed", "svg", "base", "link":
			s.t.Errorf("%s has the element %s", address, n.Data)
		case "script":
			if n.FirstChild == nil || !strings.Contains(n.FirstChild.Data, "EventSource") {
				s.t.Errorf("%s has another script: %v", address, n.FirstChild)
			}
		}
		for _, a := range n.Attr {
			local := strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "//") || strings.HasPrefix(a.Val, "#") || strings.HasPrefix(a.Val, "data:image/")
			if strings.HasPrefix(a.Key, "on") || (a.Key == "href" || a.Key == "src" || a.Key == "action") && !local {
				s.t.Errorf("%s: <%s %s=%q>", address, n.Data, a.Key, a.Val)
			}
		}
	}
}

// content returns a page without its styles.
func content(page string) string { return page[max(0, strings.Index(page, "<body>")):] }

// has checks that a page has texts, and lacks those that begin with "!".
func (s *site) has(address string, texts ...string) {
	s.t.Helper()
	body := s.page(address)
	for _, text := range texts {
		rest, lacks := strings.CutPrefix(text, "!")
		if strings.Contains(body, rest) == lacks {
			s.t.Errorf("%s: expected %q in\n%s", address, text, content(body))
		}
	}
}

// fails checks the status of a page that does not exist.
func (s *site) fails(address string, status int) {
	s.t.Helper()
	answer := s.ask(http.MethodGet, address, nil)
	if answer.Code != status {
		s.t.Errorf("%s: status %d, expected %d\n%s", address, answer.Code, status, content(answer.Body.String()))
	}
	if kind := answer.Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
		s.t.Errorf("%s: the error has the type %q", address, kind)
	}
	s.safe(address, answer.Body.String())
}

const hostile = `"><img src=x onerror=alert(1)><script>alert(2)</script>`

func TestListOfSessions(t *testing.T) {
	s := newSite(t)
	s.clone.ImportFile(s.clone.WriteFile("tagged.md", "---\ntitle: '"+strings.ReplaceAll(hostile, "'", "")+"'\ntags: [red]\n---\n\n## user\n\na walrus\n\n## assistant\n\nanother walrus\n"))
	s.clone.Appended("team/a", "in a directory")
	s.has("/", `href="/s/talk"`, `href="/s/team/a"`, `href="/s/tagged"`, "2 messages", "1 message<", "&lt;script&gt;alert(2)", "!None.", "!Messages</h2>")
	for address, want := range map[string][]string{
		"/?tag=red":                        {`"/s/tagged"`, `!"/s/talk"`, " open><summary>Filters", `name="tag" placeholder="" value="red"`},
		"/?tag=blue":                       {`!"/s/`, "None."},
		"/?name=team":                      {`"/s/team/a"`, `!"/s/talk"`},
		"/?name=t*":                        {`"/s/talk"`, `"/s/tagged"`},
		"/?agent=codex":                    {`!"/s/`, "None."},
		"/?branch=main":                    {`!"/s/`, "None."},
		"/?sort=name":                      {"<option selected>name</option>"},
		"/?sort=" + strings.Repeat("x", 9): {"<option>name</option>"},
		"/?q=walrus":                       {"tagged#0", "tagged#1", "<mark>walrus</mark>", `href="/m/tagged?k=1"`, "!talk#0", `value="walrus"`},
		"/?q=walrus&name=team":             {"Messages</h2>\n<p class=\"meta\">None.</p>", "!tagged#0"},
		"/?q=talk":                         {`"/s/talk"`, `!"/s/team/a"`},
		"/?q=directory":                    {`"/s/team/a"`, `!"/s/talk"`, "team/a#0"},
		"/?q=%22":                          {`class="note"`, `value="&quot;"`, "has no closing one; expected words", "!-F"},
		"/?q=%3Cscript%3Ealert(1)":         {"&lt;script&gt;alert(1)"},
		"/?from=1":                         {"← Before"},
		"/?from=99":                        {`!"/s/talk"`, "← Before"},
		"/?from=-5":                        {`"/s/talk"`, "!← Before"},
		"/?from=x":                         {`"/s/talk"`, "!← Before"},
	} {
		s.has(address, want...)
	}
	s.fails("/?name=%5B", http.StatusBadRequest)
}

func TestPagesOfTheList(t *testing.T) {
	s := newSite(t)
	refs := ""
	for i := range 240 {
		refs += fmt.Sprintf("create refs/domarkx/sessions/copy%03d %s\n", i, s.clone.Tip("talk").ID)
	}
	cmd := exec.Command("git", "-C", s.clone.Dir, "update-ref", "--stdin")
	cmd.Stdin = strings.NewReader(refs)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for address, want := range map[string]struct {
		rows int
		has  []string
	}{
		"/?sort=name":          {100, []string{`"/s/copy000"`, "141 more →", `href="/?from=100&amp;sort=name"`, "!Before"}},
		"/?sort=name&from=100": {100, []string{`"/s/copy100"`, "41 more →", `href="/?from=200&amp;sort=name"`, `href="/?from=0&amp;sort=name"`}},
		"/?sort=name&from=200": {41, []string{`"/s/talk"`, "!more →", `href="/?from=100&amp;sort=name"`}},
		"/?q=secret":           {50 + 100, []string{"The first 50."}},
	} {
		s.has(address, want.has...)
		if got := strings.Count(s.page(address), "<li>"); got != want.rows {
			t.Errorf("%s has %d rows, expected %d", address, got, want.rows)
		}
	}
}

func TestSessionPage(t *testing.T) {
	s := newSite(t)
	first := s.clone.Tip("talk").ID
	second := s.clone.Appended("talk", "second <b>message</b>").ID
	s.has("/s/talk", "the secret", "second", second[:10], `data-live="/live/talk?at=`+second+`&amp;from=1"`, "2 messages", "!Newest snapshot", "!>Files<", `"/log/talk"`, `"/diff/talk?b=`+second+`"`)
	s.has("/s/talk?at="+first, "the secret", "!second", "Newest snapshot", "!data-live", "1 message<")
	s.has("/s/talk?at="+first[:9], "the secret", "!second")
	s.has("/s/talk?page=x", "second")
	s.has("/log/talk", first[:10], second[:10], `"/diff/talk?a=`+first+`&amp;b=`+second+`"`)
	s.has("/log/talk?at="+first, first[:10], "!"+second[:10])
	s.has("/diff/talk", `<span class="add">+second`, "What "+second[:10]+" changed")
	s.has("/diff/talk?b="+first, `<span class="add">+the secret`, "!second")
	s.has("/diff/talk?a="+first+"&b="+second, `<span class="add">+second`, "!+the secret", first[:10]+" and "+second[:10])
	s.has("/diff/talk?a="+second+"&b="+second, "They are the same.")
	s.clone.Appended("large", strings.Repeat("line\n", 500_000)+"end")
	s.has("/diff/large", "There is more.", `+line`, "!+end")
	for _, address := range []string{
		"/s/", "/s/none", "/s/talk?at=HEAD", "/s/talk?at=" + strings.Repeat("1", 40), "/s/talk?at=%5E%7Btree%7D", "/s/talk?at=" + first[:2],
		"/log/none", "/log/talk?at=HEAD", "/diff/none", "/diff/talk?a=x", "/diff/talk?b=x", "/diff/talk?a=" + strings.Repeat("1", 40),
		"/m/none?k=0", "/m/talk", "/m/talk?k=-1", "/m/talk?k=x", "/m/talk?k=2", "/m/talk?k=99999999999999999999", "/m/talk?k=1&at=" + first,
		"/live/none?from=0", "/w/none", "/v/", "/c/", "/v/talk/", "/c/" + strings.Repeat("g", 40), "/S/talk", "/favicon.ico", "/s",
	} {
		answer := s.ask(http.MethodGet, address, nil)
		if answer.Code != http.StatusNotFound && answer.Code != http.StatusBadRequest {
			t.Errorf("%s: status %d", address, answer.Code)
		}
		s.safe(address, answer.Body.String())
	}
	s.fails("/live/talk", http.StatusBadRequest)
	s.fails("/live/talk?from=-1", http.StatusBadRequest)
}

// TestLongSession checks which messages the pages of a session have, and where links to messages lead.
func TestLongSession(t *testing.T) {
	s := newSite(t)
	var text strings.Builder
	for i := range 605 {
		fmt.Fprintf(&text, "## user\n\nmessage number %d.\n\n", i)
	}
	s.clone.ImportFile(s.clone.WriteFile("long.md", text.String()))
	links := func(pages ...int) (has []string) {
		for k := 1; k <= 3; k++ {
			link := fmt.Sprintf("/s/long?page=%d", k)
			for _, want := range pages {
				if k == want {
					has = append(has, `href="`+link+`"`)
					link = ""
				}
			}
			if link != "" {
				has = append(has, `!href="`+link+`"`)
			}
		}
		return has
	}
	for address, want := range map[string][]string{
		"/s/long":         append(links(1, 2), "Page 3 of 3, messages 600 to 604", "number 604.", "!number 599.", "data-live"),
		"/s/long?page=3":  append(links(1, 2), "number 600."),
		"/s/long?page=2":  append(links(1, 3), "Page 2 of 3, messages 300 to 599", "number 300.", "number 599.", "!number 600.", "!data-live"),
		"/s/long?page=1":  append(links(2, 3), "number 0.", "number 299.", "!number 300."),
		"/s/long?page=0":  {"number 0."},
		"/s/long?page=-7": {"number 0."},
		"/s/long?page=99": {"number 604."},
	} {
		s.has(address, want...)
	}
	tip := s.clone.Tip("long")
	for k, page := range map[int]string{0: "1", 299: "1", 300: "2", 604: "3"} {
		e, err := s.clone.Store.Entry(t.Context(), tip.ID, k)
		if err != nil {
			t.Fatal(err)
		}
		answer := s.ask(http.MethodGet, fmt.Sprintf("/m/long?k=%d", k), nil)
		if want := "/s/long?page=" + page + "#" + e.ID.String(); answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != want {
			t.Errorf("message %d: %d, %q", k, answer.Code, answer.Header().Get("Location"))
		}
		if body := s.page("/s/long?page=" + page); !strings.Contains(body, `id="`+e.ID.String()+`"`) {
			t.Errorf("page %s has no place for message %d", page, k)
		}
	}
	answer := s.ask(http.MethodGet, "/m/long?k=1&at="+tip.ID, nil)
	if !strings.HasPrefix(answer.Header().Get("Location"), "/s/long?at="+tip.ID+"&page=1#") {
		t.Errorf("a message of a snapshot: %q", answer.Header().Get("Location"))
	}
}

// TestLargeMessages checks that pages of a session end after 1 MiB of text, and that a message that is larger is shown whole.
func TestLargeMessages(t *testing.T) {
	s := newSite(t)
	text := ""
	for i, lines := range []int{50_000, 40_000, 1, 80_000, 1} {
		text += fmt.Sprintf("## user\n\nnumber %d begins\n%snumber %d ends\n\n", i, strings.Repeat("a line of text\n", lines), i)
	}
	s.clone.ImportFile(s.clone.WriteFile("large.md", text))
	s.has("/s/large?page=1", "Page 1 of 4, messages 0 to 0", "number 0 ends", "!number 1")
	s.has("/s/large?page=2", "messages 1 to 2", "number 2 ends", "!number 3")
	s.has("/s/large?page=3", "number 3 begins", "number 3 ends", "</html>", "!number 4")
	s.has("/s/large", "messages 4 to 4", "data-live")
	for k, page := range []string{"1", "2", "2", "3", "4"} {
		if to := s.ask(http.MethodGet, fmt.Sprintf("/m/large?k=%d", k), nil).Header().Get("Location"); !strings.HasPrefix(to, "/s/large?page="+page+"#") {
			t.Errorf("message %d is at %q", k, to)
		}
	}
}

func TestLongHistory(t *testing.T) {
	if testing.Short() {
		t.Skip("200 snapshots")
	}
	s := newSite(t)
	oldest := s.clone.Tip("talk").ID
	second := s.clone.Appended("talk", "x").ID
	git := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", s.clone.Dir}, args...)...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	_, message, _ := strings.Cut(git("", "cat-file", "commit", second), "\n\n")
	snapshot := fmt.Sprintf("commit refs/domarkx/sessions/talk\ncommitter A <a@example.org> 1767225600 +0000\ndata %d\n%s", len(message), message)
	git(snapshot+"from "+second+"\n"+strings.Repeat(snapshot, 198), "fast-import", "--quiet")
	s.has("/log/talk", `href="/log/talk?at=`+oldest+`">Older snapshots →`, `href="/s/talk?at=`+second, "!/s/talk?at="+oldest)
	s.has("/log/talk?at="+oldest, "!Older snapshots", "/s/talk?at="+oldest)
}

func TestWorkspacePages(t *testing.T) {
	s := newSite(t)
	s.has("/w/", "None. A workspace begins")
	call := &domarkx.CallRecord{Session: "talk", Message: domarkx.NewID(1, s.clone.Now), Resource: "notes", Tool: "write"}
	first := s.clone.Version("shop/a&b", nil, enginetest.RegularFile("n", "old\n"), enginetest.RegularFile("gone", "x\n"))
	second := s.clone.Version("shop/a&b", call, enginetest.RegularFile("n", "new\n"), enginetest.RegularFile(hostile[2:12], "y\n"))
	s.has("/w/", `href="/w/shop/a&amp;b"`, second.ID[:10], "!None.")
	s.has("/w/shop/a&b", first.ID[:10], second.ID[:10], `href="/c/`+second.ID+`"`, `href="/s/talk"`)
	s.has("/w/shop/a&b?at="+first.ID, first.ID[:10], "!"+second.ID[:10])
	s.has("/v/"+second.ID, "notes", "Session talk", `href="/c/`+second.ID+`"`)
	s.has("/v/"+first.ID+"/", `href="/v/`+first.ID+`/notes"`, "!Session talk")
	s.has("/c/"+second.ID, `<span class="del">-old`, `<span class="add">+new`, `href="/v/`+first.ID+`/"`)
	s.has("/c/"+first.ID, `<span class="add">+old`, "!Files before")
	s.has("/c/"+first.ID+"?a="+second.ID, `<span class="del">-new`, `<span class="add">+old`)
	s.has("/c/"+second.ID+"?a="+second.ID, "Nothing changed.")
	for _, address := range []string{"/c/" + second.ID + "?a=x", "/c/" + second.ID + "?a=" + strings.Repeat("1", 40), "/c/" + second.ID[:10], "/w/shop", "/w/shop/a&b?at=" + s.clone.Tip("talk").ID} {
		s.fails(address, http.StatusNotFound)
	}

	large := s.clone.Version("large", nil, enginetest.RegularFile("n", strings.Repeat("line\n", 500_000)), enginetest.RegularFile("z", "z\n"))
	s.has("/c/"+large.ID, "There is more.")
}

// TestSessionWithWorkspace checks that a session leads to the files that its calls left.
func TestSessionWithWorkspace(t *testing.T) {
	s := newSite(t)
	c := s.clone
	c.Trusted("work", enginetest.NotesConfig+"\n## user\n\ndo\n\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "n", "text": "as left"}`))
	if _, err := c.Run(t.Context(), turns.RunRequest{Name: "work"}); err != nil {
		t.Fatal(err)
	}
	v, err := c.Store.WorkspaceTip(t.Context(), "work")
	if err != nil {
		t.Fatal(err)
	}
	s.has("/s/work", `<a href="/v/`+v.ID+`/">Files</a>`, `<a href="/w/work">Versions of the workspace</a>`)
	s.has("/v/"+v.ID+"/notes/n", "as left")
}

func TestDamagedSession(t *testing.T) {
	s := newSite(t)
	s.clone.WriteFile(".git/refs/domarkx/sessions/bad", strings.Repeat("1", 40)+"\n") // no such object
	s.has("/", `"/s/talk"`, `class="note"`, "bad")
	answer := s.ask(http.MethodGet, "/s/bad", nil)
	if answer.Code == http.StatusOK {
		t.Errorf("the session is shown: %s", content(answer.Body.String()))
	}
	s.safe("/s/bad", answer.Body.String())
}
