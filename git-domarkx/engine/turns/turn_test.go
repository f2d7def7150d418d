package turns_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/replay"
)

// run runs a session and returns a line for each call.
func (c *clone) run(r turns.RunRequest) (lines []string, ran turns.RunResult, err error) {
	r.Report = func(report turns.CallResult) { lines = append(lines, line(report)) }
	ran, err = c.Run(c.T.Context(), r)
	return lines, ran, err
}

func line(r turns.CallResult) string {
	status := r.Code
	if r.OK {
		status = "ok"
	}
	return strings.TrimSpace(fmt.Sprintf("%d.%d %s %s %s %s", r.Message, r.Index, r.Resource, r.Tool, status, unexpected(r)))
}

func (c *clone) runs(name string, want ...string) turns.RunResult {
	c.T.Helper()
	lines, ran, err := c.run(turns.RunRequest{Name: name})
	if err != nil {
		c.T.Fatal(err)
	}
	if !slices.Equal(lines, want) {
		c.T.Fatalf("ran\n%s\nwant\n%s", strings.Join(lines, "\n"), strings.Join(want, "\n"))
	}
	return ran
}

func (c *clone) link(name string, k int) string {
	c.T.Helper()
	e, err := c.Store.Entry(c.T.Context(), c.Tip(name).ID, k)
	if err != nil {
		c.T.Fatal(err)
	}
	return e.Link
}

func TestRunWritesResultsBehindCalls(t *testing.T) {
	c := newClone(t)
	text := enginetest.NotesConfig + "\n## user\n\nwrite\n\n" + enginetest.CallBlock("write", `{"name": "never", "text": "by the user"}`) +
		"\n##  Assistant\nOne:\n" + enginetest.CallBlock("write", `{"name": "a", "text": "1"}`) + "and two\n```note name=two\nb=2\n```\n```note\nb=not run\n```\n\n```text name=x\nb=not run either\n```\n" +
		"\n## user\n\nmore\n\n## assistant\n\n" + enginetest.CallBlock("read", `{"name": "a"}`)
	before := c.Trusted("s", text)
	c.runs("s", "1.0 notes write ok", "1.1 notes note ok", "3.0 notes read ok")
	if got := c.Notes.Calls(); !slices.Equal(got, []string{"write a", "note b=2", "read a"}) {
		t.Errorf("called %q", got)
	}
	got := c.Shown("s")
	kept := strings.Join(strings.Split(got, "\n\n```tool-result"), "")
	for _, part := range []string{"##  Assistant\nOne:\n", "```\nand two\n", "b=not run\n```\n"} {
		if !strings.Contains(kept+got, part) {
			t.Errorf("%q is gone from %s", part, got)
		}
	}
	if n := strings.Count(got, "```tool-result\n{\"ok\": true, "); n != 3 {
		t.Errorf("%d results in %s", n, got)
	}
	first, last := c.link("s", 1), c.link("s", 3)
	if first == "" || first != last || c.link("s", 0) != "" {
		t.Errorf("links %q and %q, of a call that changed nothing the same", first, last)
	}
	if got := c.File(t, first, "b"); got != "2" {
		t.Errorf("b is %q", got)
	}
	if again := c.runs("s"); again.Failed != 0 {
		t.Error("calls with a result failed")
	}
	if shown := c.ShownIn("s#1", engine.JSON); !strings.Contains(shown, `"workspace_version": "`+first) {
		t.Errorf("the link is not shown: %s", shown)
	}
	if c.Tip("s").Number != before.Number+3 {
		t.Error("not one snapshot for each call")
	}
	c.Fsck()
}

func TestAFailedCallHasAResultAndTheNextIsMade(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("read", `{"name": "none"}`)+"\n```tool-call\nnot JSON\n```\n\n"+
		enginetest.CallBlock("nothing", "{}")+"\n"+strings.Replace(enginetest.CallBlock("read", "{}"), `"notes"`, `"other"`, 1)+"\n"+enginetest.CallBlock("write", `{"name": 1}`)+"\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`))
	ran := c.runs("s", "0.0 notes read not_found", "0.1   invalid", "0.2 notes nothing unknown_tool", "0.3 other read no_resource", "0.4 notes write invalid", "0.5 notes write ok")
	if got := c.Notes.Calls(); ran.Failed != 5 || !slices.Equal(got, []string{"read none", "write a"}) {
		t.Errorf("%d failed, called %q", ran.Failed, got)
	}
	if got := c.Shown("s"); !strings.Contains(got, `{"ok": false, "error": {"code": "not_found", "message": "no such note"}}`) {
		t.Errorf("got %s", got)
	}
	c.runs("s")
	c.Fsck()
}

func TestUntrustedRunsNothing(t *testing.T) {
	c := newClone(t)
	text := enginetest.NotesConfig + "\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "a", "text": "1"}`)
	c.ImportFile(c.WriteFile("s.md", text))
	refused := func(what string, err error) {
		t.Helper()
		var untrusted *trust.UntrustedError
		if !errors.As(err, &untrusted) || len(untrusted.Listing) == 0 {
			t.Errorf("%s: %v", what, err)
		}
		if made := c.Notes.Calls(); len(made) > 0 {
			t.Fatalf("%s called %q", what, made)
		}
		if _, err := os.Stat(filepath.Join(c.Dir, ".git/domarkx/workspaces")); err == nil {
			t.Fatalf("%s made a resource", what)
		}
	}
	_, _, err := c.run(turns.RunRequest{Name: "s"})
	refused("run", err)
	_, _, err = c.run(turns.RunRequest{Name: "s", Approve: trust.Consent{Ask: func(context.Context, *trust.UntrustedError) (bool, error) { return false, nil }}})
	refused("run, refused", err)
	_, err = c.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=a", "text=b"}})
	refused("exec", err)
	_, err = c.Replay(t.Context(), replay.Request{Name: "s"})
	refused("replay", err)
	if _, _, err = c.run(turns.RunRequest{Name: "s", Approve: trust.Consent{Yes: true}}); err != nil || len(c.Notes.Calls()) != 1 {
		t.Errorf("approved: %v, called %q", err, c.Notes.Calls())
	}
	if held, err := c.IsTrusted(t.Context(), c.Tip("s")); held || err != nil {
		t.Error("what was approved once is trusted for ever")
	}
}

func TestTrustIsExtendedByTheUserAlone(t *testing.T) {
	c := newClone(t)
	first := enginetest.NotesConfig + "\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "a", "text": "1"}`)
	c.Trusted("s", first)
	holds := func(name string, want bool, when string) {
		t.Helper()
		if held, err := c.IsTrusted(t.Context(), c.Tip(name)); held != want || err != nil {
			t.Errorf("%s: trusted %v, %v", when, held, err)
		}
	}
	holds("s", true, "trusted")
	if _, err := c.Append(t.Context(), turns.AppendRequest{Name: "s", New: true, Role: "assistant", Text: enginetest.CallBlock("read", `{"name": "a"}`)}); err != nil {
		t.Fatal(err)
	}
	holds("s", true, "append")
	saved := c.Shown("s") + "\n## assistant\n\n" + enginetest.CallBlock("read", `{"name": "b"}`)
	c.Saved("s", c.Tip("s").ID, saved)
	holds("s", true, "edit")
	c.runs("s", "0.0 notes write ok", "1.0 notes read ok", "2.0 notes read not_found")
	holds("s", true, "run")
	report, err := c.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=b", "text=2", "times=3"}})
	if err != nil || !report.OK || report.Message != 3 {
		t.Fatalf("exec: %+v, %v", report, err)
	}
	holds("s", true, "exec")
	for range 30 {
		if _, err := c.Append(t.Context(), turns.AppendRequest{Name: "s", New: true, Role: "assistant", Text: enginetest.CallBlock("read", `{"name": "b"}`)}); err != nil {
			t.Fatal(err)
		}
	}
	holds("s", true, "many appends")
	if n := len(c.Settings.Values["trust"]); n > 20 {
		t.Errorf("%d settings", n)
	}

	c.WriteFile("s.md", first+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "evil", "text": "1"}`))
	c.ImportFile(c.Dir + "/s.md")
	holds("s", false, "import")
	tip := c.Tip("s")
	c.Saved("s", tip.ID, strings.Replace(c.Shown("s"), "evil", "more evil", 1))
	holds("s", false, "edit of what is not trusted")
	if _, err := c.Append(t.Context(), turns.AppendRequest{Name: "s", New: true, Role: "assistant", Text: enginetest.CallBlock("read", `{"name": "a"}`)}); err != nil {
		t.Fatal(err)
	}
	holds("s", false, "append to what is not trusted")

	c.Saved("new", "", first+"\n## user\n\nhi\n\n## assistant\n\n"+enginetest.CallBlock("read", `{"name": "new"}`))
	holds("new", false, "a document saved under a new name")
	c.Appended("empty", "hi")
	holds("empty", true, "nothing to run")
	if _, err := c.Append(t.Context(), turns.AppendRequest{Name: "empty", New: true, Role: "assistant", Text: enginetest.CallBlock("read", `{"name": "x"}`)}); err != nil {
		t.Fatal(err)
	}
	holds("empty", true, "append to nothing to run")
	if status, err := c.Revoke(t.Context(), "empty"); err != nil || status != trust.Untrusted {
		t.Errorf("revoked: %q, %v", status, err)
	}
	holds("empty", false, "revoked")
}

func TestSaveOverAMoveIsTrustedOnlyWhereBothWere(t *testing.T) {
	c := newClone(t)
	first := enginetest.NotesConfig + "\n## assistant\n\nhello\n"
	base := c.Trusted("s", first)
	c.WriteFile("s.md", first+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "evil", "text": "1"}`))
	c.ImportFile(c.Dir + "/s.md")
	saved := c.Saved("s", base.ID, strings.Replace(first, "hello", "hello you\n\n"+enginetest.CallBlock("read", `{"name": "a"}`), 1))
	if held, err := c.IsTrusted(t.Context(), c.Tip("s")); !saved.Merged || held || err != nil {
		t.Errorf("merged %v, trusted %v, %v", saved.Merged, held, err)
	}
}

func TestSetupRunsOnce(t *testing.T) {
	c := newClone(t)
	setup := "```session-config\n{}\n```\n\n```note setup-script\nexit\n```\n\n" + enginetest.NotesConfig
	c.Trusted("s", setup+"\n## assistant\n\n"+enginetest.CallBlock("read", `{"name": "base"}`))
	var failure *turns.SetupError
	if _, _, err := c.run(turns.RunRequest{Name: "s"}); !errors.As(err, &failure) || failure.Output != "ran" {
		t.Fatalf("a setup that fails: %v", err)
	}
	if _, _, err := c.run(turns.RunRequest{Name: "s"}); !errors.As(err, &failure) || len(c.Notes.Calls()) != 1 {
		t.Fatalf("it was run again: %v, %q", err, c.Notes.Calls())
	}
	c.Saved("s", c.Tip("s").ID, strings.Replace(c.Shown("s"), "exit", "base=set up", 1))
	lines, _, err := c.run(turns.RunRequest{Name: "s", Retry: true})
	if err != nil || !slices.Equal(lines, []string{"0.0 notes read ok"}) {
		t.Fatalf("%q, %v", lines, err)
	}
	if _, err := c.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "read", Pairs: []string{"name=base"}}); err != nil {
		t.Fatal(err)
	}
	if got := c.Notes.Calls(); !slices.Equal(got, []string{"note exit", "note base=set up", "read base", "read base"}) {
		t.Errorf("called %q", got)
	}
	var operations []string
	v, err := c.Store.WorkspaceTip(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	for v, err := range c.Store.Versions(t.Context(), v.ID) {
		if err != nil {
			t.Fatal(err)
		}
		operations = append(operations, v.Operation)
	}
	if !slices.Equal(operations, []string{"setup", "create"}) {
		t.Errorf("versions %q", operations)
	}
}

func TestWhatChangedBetweenCallsIsAVersion(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`))
	c.runs("s", "0.0 notes write ok")
	path := filepath.Join(c.notesDir(), "by hand")
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "read", Pairs: []string{"name=a"}}); err != nil {
		t.Fatal(err)
	}
	tip, err := c.Store.WorkspaceTip(t.Context(), "s")
	if err != nil || tip.Operation != "change" || c.link("s", 1) != tip.ID || c.File(t, tip.ID, "by hand") != "x" {
		t.Errorf("the newest version is %+v, %v", tip, err)
	}
}

// notesDir returns the directory of the only notebook.
func (c *clone) notesDir() string {
	found, err := filepath.Glob(filepath.Join(c.Dir, ".git/domarkx/workspaces/*/*/files"))
	if err != nil || len(found) != 1 {
		c.T.Fatalf("notebooks %q, %v", found, err)
	}
	return found[0]
}

// unexpected returns the error of a call with a failure that no test provokes.
func unexpected(r turns.CallResult) string {
	if r.Code == domarkx.CodeFailed || r.Code == domarkx.CodeBroken {
		return r.Outcome.Message
	}
	return ""
}
