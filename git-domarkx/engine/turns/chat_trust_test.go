package turns_test

import (
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// TestOwnChangesBesidePendingCalls changes a trusted session in which a model left a call without a
// result. That call is not trusted, but a chat must be able to go on with the rest.
func TestOwnChangesBesidePendingCalls(t *testing.T) {
	once := trust.Consent{Yes: true}
	changes := map[string]struct {
		change func(c *clone) error
		whole  bool // whether all of the session is trusted then
	}{
		"run": {func(c *clone) error {
			_, err := c.Run(c.T.Context(), turns.RunRequest{Name: "s", Approve: once})
			return err
		}, true},
		"exec": {func(c *clone) error {
			_, err := c.Exec(c.T.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=b", "text=2"}, Approve: once})
			return err
		}, false},
		"append": {func(c *clone) error {
			_, err := c.Append(c.T.Context(), turns.AppendRequest{Name: "s", Role: "assistant", Text: "```sh name=list.sh\nls\n```\n"})
			return err
		}, false},
		"save": {func(c *clone) error {
			c.Saved("s", c.Tip("s").ID, c.Shown("s")+"\n## assistant\n\n```sh name=list.sh\nls\n```\n")
			return nil
		}, false},
		"rewind": {func(c *clone) error {
			if _, err := c.Append(c.T.Context(), turns.AppendRequest{Name: "s", Role: "user", Text: "Hello."}); err != nil {
				return err
			}
			_, err := c.Rewind(c.T.Context(), engine.Revision{Name: "s", Message: 1})
			return err
		}, false},
	}
	for name, tt := range changes {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.Trusted("s", enginetest.NotesConfig+"\n## user\n\nwrite\n")
			turn := c.begin("s")
			c.answer(turn, enginetest.CallBlock("write", `{"name": "a", "text": "1"}`))
			c.end(turn)
			if err := tt.change(c); err != nil {
				t.Fatal(err)
			}
			if got := c.trusts("s"); got != tt.whole {
				t.Errorf("all of it is trusted: %v, want %v", got, tt.whole)
			}
			c.end(c.begin("s"))
		})
	}
}

// TestRunOnceTrustsNothingElse runs a session that came from elsewhere, once.
func TestRunOnceTrustsNothingElse(t *testing.T) {
	c := newClone(t)
	c.ImportFile(c.WriteFile("s.md", enginetest.NotesConfig+"\n## user\n\nwrite\n\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`)))
	once := trust.Consent{Yes: true}
	if _, err := c.Run(t.Context(), turns.RunRequest{Name: "s", Approve: once}); err != nil {
		t.Fatal(err)
	}
	if c.trusts("s") {
		t.Error("a run of an untrusted session made it trusted")
	}
	if got := c.Settings.Values["trust"]; len(got) > 0 {
		t.Errorf("trust was recorded: %q", got)
	}
}
