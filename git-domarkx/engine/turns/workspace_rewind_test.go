package turns_test

import (
	"errors"
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
	"github.com/domarkx/domarkx/plugins"
	"github.com/domarkx/domarkx/plugins/plugintest"
)

// threeCalls writes a=1, then a=2 and b=2, then c=3, in three messages.
var threeCalls = enginetest.NotesConfig + "\n## user\n\ngo\n\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "a", "text": "1"}`) +
	"\n## user\n\non\n\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "a", "text": "2"}`) + "\n" + enginetest.CallBlock("write", `{"name": "b", "text": "2"}`) +
	"\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "c", "text": "3"}`)

// ranThree returns a clone in which the three calls were made.
func ranThree(t *testing.T) *clone {
	t.Helper()
	c := newClone(t)
	c.Trusted("s", threeCalls)
	if _, _, err := c.run(turns.RunRequest{Name: "s"}); err != nil {
		t.Fatal(err)
	}
	return c
}

// directory returns the directory of a workspace's only live resource.
func (c *clone) directory(workspace string) string {
	c.T.Helper()
	paths, err := c.WorkspacePaths(c.T.Context(), workspace, "")
	if err != nil {
		c.T.Fatal(err)
	}
	return paths[0]
}

// holds returns the files in a directory, as "a=1 b=2".
func holds(t *testing.T, dir string) string {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, f.Name()+"="+string(data))
	}
	return strings.Join(list, " ")
}

func (c *clone) expect(workspace, want string) {
	c.T.Helper()
	if got := holds(c.T, c.directory(workspace)); got != want {
		c.T.Errorf("workspace %s holds %q, want %q", workspace, got, want)
	}
}

func (c *clone) put(workspace, name, text string) {
	c.T.Helper()
	if err := os.WriteFile(filepath.Join(c.directory(workspace), name), []byte(text), 0o644); err != nil {
		c.T.Fatal(err)
	}
}

func (c *clone) rewind(revision string) turns.RewindResult {
	c.T.Helper()
	r, err := engine.ParseRevision(revision)
	if err != nil {
		c.T.Fatal(err)
	}
	done, err := c.Rewind(c.T.Context(), r)
	if err != nil {
		c.T.Fatal(err)
	}
	return done
}

// versions returns the operations of a workspace's versions, newest first.
func (c *clone) versions(workspace string) string {
	c.T.Helper()
	var list []string
	for v, err := range c.VersionLog(c.T.Context(), engine.Revision{Name: workspace, Message: -1}) {
		if err != nil {
			c.T.Fatal(err)
		}
		list = append(list, v.Operation)
	}
	return strings.Join(list, " ")
}

func TestRewindTakesTheWorkspaceAlong(t *testing.T) {
	c := ranThree(t)
	c.put("s", "mine", "x")
	done := c.rewind("s#1")
	c.expect("s", "a=1")
	if got := c.Tip("s").Messages; got != 2 {
		t.Errorf("%d messages", got)
	}
	if got, want := c.versions("s"), "rewind change call call call call create"; got != want {
		t.Errorf("versions %q, want %q", got, want)
	}
	undone := c.rewind("s@" + done.Before.ID)
	c.expect("s", "a=2 b=2 c=3 mine=x")
	c.rewind("s@" + undone.Before.ID)
	c.expect("s", "a=1")
	c.Fsck()
}

func TestRewindToAMessageWithoutALinkIsToTheOneBefore(t *testing.T) {
	c := ranThree(t)
	c.rewind("s#2")
	c.expect("s", "a=1")
	c.rewind("s#0") // before any call
	c.expect("s", "")
	c.Fsck()
}

func TestRewindToTheLastMessageTakesBackWhatChangedSince(t *testing.T) {
	c := ranThree(t)
	c.put("s", "a", "spoilt")
	done := c.rewind("s#4")
	c.expect("s", "a=2 b=2 c=3")
	if done.Now.ID == done.Before.ID {
		t.Error("nothing tells how to undo it")
	}
	c.rewind("s@" + done.Before.ID)
	c.expect("s", "a=spoilt b=2 c=3")
	tip := c.Tip("s")
	if again := c.rewind("s@" + tip.ID); again.Now.ID != tip.ID {
		t.Error("a rewind to where it is made a snapshot")
	}
}

func TestRewindOfAWorkspaceThatIsNotLive(t *testing.T) {
	c := ranThree(t)
	if err := c.Env.Workspaces.TearDown(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	done := c.rewind("s#1")
	if _, err := c.WorkspacePaths(t.Context(), "s", ""); err == nil {
		t.Error("the rewind made it live")
	}
	if got := c.File(t, done.Workspace.ID, "a"); got != "1" {
		t.Errorf("a is %q", got)
	}
	if _, err := c.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "read", Pairs: []string{"name=a"}}); err != nil {
		t.Fatal(err)
	}
	c.expect("s", "a=1")
	c.Fsck()
}

func TestForksGoOnByThemselves(t *testing.T) {
	c := ranThree(t)
	r := engine.Revision{Name: "s", Message: 1}
	fork, err := c.Fork(t.Context(), r, "f")
	if err != nil || fork.Asleep != nil {
		t.Fatal(err, fork.Asleep)
	}
	c.expect("f", "a=1")
	for name, text := range map[string]string{"f": "forked", "s": "original"} {
		_, err := c.Exec(t.Context(), turns.ExecRequest{Name: name, Resource: "notes", Tool: "write", Pairs: []string{"name=a", "text=" + text}})
		if err != nil {
			t.Fatal(err)
		}
	}
	c.expect("f", "a=forked")
	c.expect("s", "a=original b=2 c=3")
	if _, err := c.Fork(t.Context(), r, "s"); !errors.Is(err, domarkx.ErrExists) {
		t.Errorf("forked over a session: %v", err)
	}
	if _, err := c.Fork(t.Context(), engine.Revision{Name: "s", Message: -1}, "whole"); err != nil {
		t.Fatal(err)
	}
	c.expect("whole", "a=original b=2 c=3")
	c.Fsck()
}

func TestAForkOfAnUntrustedSessionIsNotLive(t *testing.T) {
	c := ranThree(t)
	if _, err := c.Revoke(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	fork, err := c.Fork(t.Context(), engine.Revision{Name: "s", Message: 1}, "f")
	var untrusted *trust.UntrustedError
	if err != nil || !errors.As(fork.Asleep, &untrusted) {
		t.Fatal(err, fork.Asleep)
	}
	if _, err := c.WorkspacePaths(t.Context(), "f", ""); err == nil {
		t.Error("it is live")
	}
}

// A message that is moved keeps its link, also when it moves to or from the end of the document,
// where its blank lines differ.
func TestMovedMessageKeepsLink(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## user\n\nx\n\n## assistant\n\nOne:\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`)+
		"\n## user\n\ny\n\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "b", "text": "2"}`))
	c.runs("s", "1.0 notes write ok", "3.0 notes write ok")
	was := []string{c.link("s", 1), c.link("s", 3)}
	text := c.Shown("s")
	first, second := strings.Index(text, "## user\n\nx"), strings.Index(text, "## user\n\ny")
	c.Saved("s", c.Tip("s").ID, text[:first]+strings.TrimRight(text[second:], "\n")+"\n\n"+text[first:second])
	if now := []string{c.link("s", 3), c.link("s", 1)}; !slices.Equal(now, was) || slices.Contains(now, "") {
		t.Errorf("the assistant's messages are linked to %q, before to %q", now, was)
	}
}

// While a process commits or loads a version, other processes see that it is busy, not the
// intermediate state.
func TestStatusMeanwhile(t *testing.T) {
	c := ranThree(t)
	expect := func(want string) {
		t.Helper()
		all, err := c.WorkspaceStates(t.Context())
		if err != nil || len(all) != 1 || all[0].State != want {
			t.Errorf("%v, %v, want %s alone", all, err, want)
		}
	}
	l, err := c.Env.Workspaces.Open(t.Context(), plugintest.MayOpen("s", nil), plugins.Options{})
	if err != nil {
		t.Fatal(err)
	}
	c.put("s", "a", "mine")
	changes, err := l.Commit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	changes.Abort()
	expect(turns.StateBusy)
	if err := l.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	expect(turns.StateDirty)
}
