package blame_test

import (
	"testing"
	"time"

	"github.com/domarkx/domarkx/git-domarkx/find/blame"
)

func TestAgentTrace(t *testing.T) {
	session := func(n, k int) blame.Line {
		return blame.Line{Number: n, Origin: blame.Origin{Source: blame.Session, Session: "a b", Message: k, Model: "m"}}
	}
	lines := []blame.Line{session(1, 3), session(2, 3), {Number: 3}, session(4, 3), session(5, -1), {Number: 6, Origin: blame.Origin{Source: blame.Unclear}}}
	got := blame.AgentTrace("x.go", lines, "00000000-0000-4000-8000-000000000000", "0123", time.Unix(0, 0), "v1").JSON()
	want := `{"version":"0.1.0","id":"00000000-0000-4000-8000-000000000000","timestamp":"1970-01-01T00:00:00Z","vcs":{"type":"git","revision":"0123"},` +
		`"tool":{"name":"git-domarkx","version":"v1"},"files":[{"path":"x.go","conversations":[` +
		`{"url":"domarkx:///sessions/a%20b/messages/3","contributor":{"type":"ai","model_id":"m"},"ranges":[{"start_line":1,"end_line":2},{"start_line":4,"end_line":4}]},` +
		`{"contributor":{"type":"human"},"ranges":[{"start_line":3,"end_line":3}]},` +
		`{"url":"domarkx:///sessions/a%20b","contributor":{"type":"ai","model_id":"m"},"ranges":[{"start_line":5,"end_line":5}]},` +
		`{"contributor":{"type":"unknown"},"ranges":[{"start_line":6,"end_line":6}]}]}]}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
