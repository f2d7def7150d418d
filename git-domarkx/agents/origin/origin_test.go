package origin_test

import (
	"os"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/agents/origin"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// transcript is a transcript of Claude Code with one message of each role.
const transcript = `{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"11111111-1111-4111-8111-111111111111","sessionId":"5e550000-0000-4000-8000-000000000001","cwd":"/w","version":"2.1.0","timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"user","content":"Hello"}}
{"parentUuid":"11111111-1111-4111-8111-111111111111","isSidechain":false,"type":"assistant","uuid":"22222222-2222-4222-8222-222222222222","sessionId":"5e550000-0000-4000-8000-000000000001","cwd":"/w","version":"2.1.0","timestamp":"2026-03-01T10:00:02.000Z","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Good day."}],"stop_reason":"end_turn"}}
`

// TestOf says which session of another program a session is.
func TestOf(t *testing.T) {
	c := enginetest.New(t)
	c.ImportOne(importer.Request{As: "s", Paths: []string{c.WriteFile("a.jsonl", transcript)}})
	r := origin.Reader{Sessions: c.SessionManager, Store: c.Store}
	const id = "5e550000-0000-4000-8000-000000000001"
	check := func(name string, want origin.Session, sessionOf string) {
		t.Helper()
		info := c.Tip(name)
		if got, err := r.Of(t.Context(), info); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
		if got, err := r.Same("claude-code", info); err != nil || got != sessionOf {
			t.Errorf("%s is the session %q, %v; want %q", name, got, err, sessionOf)
		}
	}
	check("s", origin.Session{Format: "claude-code", ID: id, Unchanged: true, Here: true}, id)
	c.Appended("s", "More.")
	check("s", origin.Session{Format: "claude-code", ID: id, Here: true}, "")
	c.Appended("own", "Hello.")
	check("own", origin.Session{}, "")
}
