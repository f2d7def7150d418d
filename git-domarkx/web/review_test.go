package web_test

import (
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/find/review"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
)

func (s *site) git(args ...string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "git", append([]string{"-C", s.clone.Dir, "-c", "user.name=Bo <b>", "-c", "user.email=bo@example.org"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestReview checks the pages of commits, of ranges, and of the lines of a message.
func TestReview(t *testing.T) {
	s := newSite(t)
	s.fails("/r/", http.StatusNotFound)
	c := s.clone
	s.pages.Reviews = &review.Manager{Store: c.Store, Git: c.Store.Git(), State: c.Settings, Scans: scan.New(c.Store, c.Env), Agent: c.Agent}
	s.has("/r/", "Review a commit or a range", `name="range"`)
	s.git("commit", "-q", "--allow-empty", "-m", "start")
	c.Committed("work", enginetest.WorkTree, map[string]string{"f": "old\n"}, domarkx.VersionCommit{Operation: "change"})
	e := c.Linked("work", "", enginetest.Calling("model-x", "write_file", `{"path": "f"}`))
	v := c.Committed("work", enginetest.WorkTree, map[string]string{"f": "old\n<i>of the session\n"}, domarkx.VersionCommit{Operation: "call",
		Call: &domarkx.CallRecord{Session: "work", Message: e.ID, Resource: "files", Tool: "write_file"}})
	c.Linked("work", v.ID, enginetest.Calling("model-x", "write_file", `{"path": "other"}`))
	c.WriteFile("f", "old\n<i>of the session\nby hand\n")
	s.git("add", ".")
	s.git("commit", "-qm", "<script>work")
	head := s.git("rev-parse", "HEAD")

	s.has("/r/", "&lt;script&gt;work", "/r/?range="+head, "Bo b")
	for _, address := range []string{"/r/?range=" + head, "/r/?range=HEAD~1..HEAD", "/r/?range=HEAD%5E%21"} {
		s.has(address, `<a href="/m/work?k=0">work#0</a>`, "model-x", "&lt;i&gt;of the session", "a person (", "3 lines added (1 by models, 2 by persons")
	}
	s.fails("/r/?range=nothing", http.StatusNotFound)
	s.fails("/r/?range=-x..y", http.StatusBadRequest)
	s.has("/s/work", `href="/r/work?k=1"`)
	s.has("/r/work?k=0", "<h2>f</h2>", "&lt;i&gt;of the session", "!by hand", "!old")
	s.has("/r/work?k=1", "None of its lines")
	s.fails("/r/work?k=9", http.StatusNotFound)
	s.fails("/r/work?k=x", http.StatusNotFound)
	s.fails("/r/none?k=0", http.StatusNotFound)
}
