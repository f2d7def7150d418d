package trust_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/syntax"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/project"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
)

// imported imports a document as the session n, without trusting it.
func imported(c *clone, text string) domarkx.Info {
	c.ImportFile(c.WriteFile("n.md", text))
	return c.Tip("n")
}

const twoCalls = enginetest.NotesConfig + "\n## user\n\nWrite.\n\n## assistant\n\n"

// whole asks a gate for everything that a snapshot runs.
func whole(g *trust.Gate, info domarkx.Info) error {
	_, err := g.Permit(context.Background(), trust.Session{Info: info})
	return err
}

func TestGate(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	info := imported(c, twoCalls+enginetest.CallBlock("write", `{"name": "a", "text": "b"}`))
	var untrusted *trust.UntrustedError
	if err := whole(c.Gate(trust.Consent{}), info); !errors.As(err, &untrusted) || untrusted.Session != "n" || untrusted.Resource != "" {
		t.Fatalf("an untrusted session: %v", err)
	}
	var listed []string
	for _, r := range untrusted.Listing {
		listed = append(listed, r.Where+": "+r.What)
	}
	if got, want := strings.Join(listed, ", "), "workspace-config: resources, message 1: tool-call"; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}

	asked, answer := 0, false
	g := c.Gate(trust.Consent{Ask: func(context.Context, *trust.UntrustedError) (bool, error) { asked++; return answer, nil }})
	if err := whole(g, info); !errors.As(err, &untrusted) || asked != 1 {
		t.Errorf("declined: %v, asked %d times", err, asked)
	}
	answer = true
	for range 2 { // an approval holds for this process
		if err := whole(g, info); err != nil || asked != 2 {
			t.Errorf("approved: %v, asked %d times", err, asked)
		}
	}
	if held, err := c.IsTrusted(ctx, info); held || err != nil {
		t.Errorf("an approval was recorded as trust: %v, %v", held, err)
	}
	now := imported(c, twoCalls+enginetest.CallBlock("fail", `{}`))
	if err := whole(g, now); err != nil || asked != 3 {
		t.Errorf("another call: %v, asked %d times, want a new question", err, asked)
	}

	if err := c.Trust(ctx, now); err != nil {
		t.Fatal(err)
	}
	if err := whole(g, now); err != nil || asked != 3 {
		t.Errorf("trusted: %v, asked %d times", err, asked)
	}
	stop := errors.New("the terminal is gone")
	g = c.Gate(trust.Consent{Ask: func(context.Context, *trust.UntrustedError) (bool, error) { return true, stop }})
	if err := whole(g, info); !errors.Is(err, stop) {
		t.Errorf("no answer: %v", err)
	}
}

// TestProjectFileEndsTrust changes .domarkx.toml, which adds to what every session runs.
func TestProjectFileEndsTrust(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	info := c.Trusted("n", enginetest.NotesConfig+"\n## user\n\nHello.\n")
	held := func() bool {
		t.Helper()
		held, err := c.IsTrusted(ctx, info)
		if err != nil {
			t.Fatal(err)
		}
		return held
	}
	g := c.Gate(trust.Consent{})
	if err := whole(g, info); err != nil || !held() {
		t.Fatal(err)
	}
	file := c.WriteFile(".domarkx.toml", "[plugins.notes]\ntitle = \"x\"\n")
	if held() {
		t.Error("defaults for a resource were trusted unseen")
	}
	open := trust.Open{Session: trust.Session{Info: info}, Workspace: "n"}
	if _, err := g.Permit(ctx, open); !errors.Is(err, domarkx.ErrConflict) {
		t.Errorf("a change after the check: %v", err)
	}
	c.WriteFile(".domarkx.toml", "[plugins.notes\n")
	if held() {
		t.Error("an invalid file is trusted")
	}
	var syntax *syntax.Error
	if err := c.Trust(ctx, info); !errors.As(err, &syntax) || filepath.Base(syntax.Path) != project.File {
		t.Errorf("trusting with an invalid file: %v", err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if !held() {
		t.Error("without the file the session is not trusted any more")
	}
	if p, err := g.Permit(ctx, open); err != nil || len(p.What().Resources) != 1 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestTrustIsBounded trusts many states of a session: the oldest are forgotten, those of other sessions stay.
func TestTrustIsBounded(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	other := c.Trusted("other", enginetest.NotesConfig+"\n## user\n\nHello.\n")
	first := c.Trusted("n", twoCalls+enginetest.CallBlock("write", `{}`))
	now := first
	for i := range 30 {
		saved := c.Saved("n", now.ID, twoCalls+enginetest.CallBlock("write", fmt.Sprintf(`{"name": "%d"}`, i)))
		now = saved.Info
	}
	for _, tt := range []struct {
		name, id string
		want     bool
	}{{"other", other.ID, true}, {"n", now.ID, true}, {"n", first.ID, false}} {
		held, err := c.IsTrusted(ctx, domarkx.Info{Name: tt.name, ID: tt.id})
		if err != nil || held != tt.want {
			t.Errorf("%s@%.7s: trusted %v, %v, want %v", tt.name, tt.id, held, err, tt.want)
		}
	}
	if n := len(c.Settings.Values["trust"]); n != 21 {
		t.Errorf("%d entries, want 20 of the session and the other one's", n)
	}
	if state, err := c.Revoke(ctx, "n"); state != trust.Untrusted || err != nil {
		t.Errorf("revoked: %s, %v", state, err)
	}
	if n := len(c.Settings.Values["trust"]); n != 1 {
		t.Errorf("%d entries after revoking, want the other session's", n)
	}
}
