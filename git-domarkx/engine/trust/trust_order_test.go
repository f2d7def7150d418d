package trust_test

import (
	"errors"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// TestTrustGrowsFirst makes changes that extend the trust in a session. The trust must be
// recorded before the session moves, so that a process killed in between does not leave it
// untrusted.
func TestTrustGrowsFirst(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	call := func(text string) string {
		return "```tool-call\n{\"resource\": \"notes\", \"tool\": \"" + text + "\", \"arguments\": {}}\n```\n"
	}
	var moved []string // sessions that had moved before their trust was recorded
	watch := func(name string) func() {
		before, err := c.Resolve(ctx, revision(t, name))
		if err != nil && !errors.Is(err, domarkx.ErrNotFound) {
			t.Fatal(err)
		}
		return func() {
			if now, _ := c.Resolve(ctx, revision(t, name)); now.ID != before.ID {
				moved = append(moved, name)
			}
		}
	}
	check := func(what, name string) {
		t.Helper()
		c.Settings.Adding = nil
		info, err := c.Resolve(ctx, revision(t, name))
		if err != nil {
			t.Fatal(err)
		}
		info.Name = name
		if held, err := c.IsTrusted(ctx, info); !held || err != nil {
			t.Errorf("%s: trusted %v, %v", what, held, err)
		}
		if len(moved) > 0 {
			t.Errorf("%s: the session moved before it was trusted", what)
		}
		moved = nil
	}
	for i, text := range []string{"one", "two", "three"} {
		c.Settings.Adding = watch("s")
		if _, err := c.Append(ctx, turns.AppendRequest{Name: "s", New: true, Role: "assistant", Text: call(text)}); err != nil {
			t.Fatal(err)
		}
		if check("append", "s"); len(c.Settings.Values["trust"]) != i+1 {
			t.Errorf("trust: %q", c.Settings.Values)
		}
	}
	tip, err := c.Resolve(ctx, revision(t, "s"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.TextOf(ctx, tip.ID)
	if err != nil {
		t.Fatal(err)
	}
	c.Settings.Adding = watch("s")
	if _, err := c.Save(ctx, engine.SaveRequest{Name: "s", Base: tip.ID, Data: append(text, "\n## assistant\n\n"+call("four")...), Operation: "edit"}); err != nil {
		t.Fatal(err)
	}
	check("save", "s")

	// Only the latest trust remains: older entries are removed eventually.
	values := c.Settings.Values["trust"]
	c.Settings.Values["trust"] = values[len(values)-1:]
	c.Settings.Adding = watch("s")
	if _, err := c.Rewind(ctx, revision(t, "s#1")); err != nil {
		t.Fatal(err)
	}
	check("rewind", "s")
	c.Settings.Adding = watch("f")
	if _, err := c.Fork(ctx, revision(t, "s#0"), "f"); err != nil {
		t.Fatal(err)
	}
	check("fork", "f")

	c.Trusted("n", enginetest.NotesConfig)
	c.Settings.Adding = watch("n")
	if _, err := c.Exec(ctx, turns.ExecRequest{Name: "n", Resource: "notes", Tool: "write", Pairs: []string{"name=a", "text=b"}}); err != nil {
		t.Fatal(err)
	}
	check("exec", "n")
}

func revision(t *testing.T, s string) engine.Revision {
	t.Helper()
	r, err := engine.ParseRevision(s)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRevokeDuringCall revokes the trust in a session during one of its calls. Recording the call
// must not extend the trust again.
func TestRevokeDuringCall(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	c.Trusted("n", enginetest.NotesConfig)
	c.Notes.During = func() {
		if status, err := c.Revoke(ctx, "n"); status != trust.Untrusted || err != nil {
			t.Errorf("revoke: %q, %v", status, err)
		}
	}
	if _, err := c.Exec(ctx, turns.ExecRequest{Name: "n", Resource: "notes", Tool: "write", Pairs: []string{"name=a", "text=b"}}); err != nil {
		t.Fatal(err)
	}
	info := c.Tip("n")
	if held, err := c.IsTrusted(ctx, info); held || err != nil {
		t.Errorf("after the call: trusted %v, %v", held, err)
	}
}
