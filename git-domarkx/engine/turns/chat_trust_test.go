package turns_test

import (
	"testing"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
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

// TestCallInAConflict makes one call of a session in which another call came from elsewhere, as the other text of a message.
// Whichever text comes first, the session is trusted no more than before.
func TestCallInAConflict(t *testing.T) {
	for _, foreign := range []string{"3", "4", "5", "6"} {
		c := newClone(t)
		text := func(written string) string {
			return enginetest.NotesConfig + "\n## user\n\nwrite\n\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "a", "text": "`+written+`"}`)
		}
		base := c.Trusted("s", text("1")).ID
		c.Saved("s", base, text("2"))
		c.pulled("s", base, text(foreign))
		if c.trusts("s") {
			t.Fatal("what came from elsewhere is trusted")
		}
		turn, err := c.BeginTurn(t.Context(), turns.TurnRequest{Name: "s", Approve: trust.Consent{Yes: true, Calls: trust.Calls{All: true}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.make(turn, c.pending(turn)[0]); err != nil {
			t.Fatal(err)
		}
		c.end(turn)
		if c.trusts("s") {
			t.Errorf("%s: a call in a conflict made the other text trusted:\n%s", foreign, c.Shown("s"))
		}
	}
}

// pulled merges a text that was made from the snapshot base elsewhere.
func (c *clone) pulled(name, base, text string) {
	c.T.Helper()
	doc, err := markdown.Decode(format.Source{Data: []byte(text)})
	if err != nil {
		c.T.Fatal(err)
	}
	was, err := view.Load(c.T.Context(), c.Store, base)
	if err != nil {
		c.T.Fatal(err)
	}
	author, committer, err := c.Env.Identity(c.T.Context())
	if err != nil {
		c.T.Fatal(err)
	}
	err = c.Update(c.T.Context(), "pull", func(tx *transaction.Tx) error {
		change := engine.Change{Name: name, Base: base, Operation: "edit", Author: author, Committer: committer}
		_, err := c.CommitEdit(c.T.Context(), tx, transaction.AsIs(), edit.New(c.Store, was, doc, committer), change, trust.Unchanged)
		return err
	})
	if err != nil {
		c.T.Fatal(err)
	}
}
