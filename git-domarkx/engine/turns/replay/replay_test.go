package replay_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/replay"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

var threeCalls = enginetest.NotesConfig + "\n## user\n\ngo\n\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "a", "text": "1"}`) +
	"\n## user\n\non\n\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "a", "text": "2"}`) + "\n" + enginetest.CallBlock("write", `{"name": "b", "text": "2"}`) +
	"\n## assistant\n\n" + enginetest.CallBlock("write", `{"name": "c", "text": "3"}`)

// run makes the calls of the session s; some fail.
func run(c *enginetest.Clone, failed int) {
	c.T.Helper()
	if ran, err := c.Run(c.T.Context(), turns.RunRequest{Name: "s"}); err != nil || ran.Failed != failed {
		c.T.Fatalf("%+v, %v", ran, err)
	}
}

// notebook returns the directory of the only notebook.
func notebook(c *enginetest.Clone) string {
	found, err := filepath.Glob(filepath.Join(c.Dir, ".git/domarkx/workspaces/*/*/files"))
	if err != nil || len(found) != 1 {
		c.T.Fatalf("notebooks %q, %v", found, err)
	}
	return found[0]
}

// listed returns the notes in the notebook.
func listed(c *enginetest.Clone) string {
	files, err := filepath.Glob(filepath.Join(notebook(c), "*"))
	if err != nil {
		c.T.Fatal(err)
	}
	var list []string
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			c.T.Fatal(err)
		}
		list = append(list, filepath.Base(path)+"="+string(data))
	}
	return strings.Join(list, " ")
}

func TestReplay(t *testing.T) {
	c := enginetest.New(t)
	c.Trusted("s", enginetest.NotesConfig+"\n```note setup-script\nbase=1\n```\n\n## assistant\n\n"+enginetest.CallBlock("read", `{"name": "base"}`)+"\n"+enginetest.CallBlock("write", `{"name": "a", "text": "1"}`)+
		"\n```note name=n\nb=2\n```\n\n## assistant\n\n"+enginetest.CallBlock("read", `{"name": "none"}`)+"\n"+enginetest.CallBlock("stamp", "{}"))
	run(c, 1) // there is no such note
	if err := os.WriteFile(filepath.Join(notebook(c), "by hand"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Exec(t.Context(), turns.ExecRequest{Name: "s", Resource: "notes", Tool: "write", Pairs: []string{"name=last", "text=1"}}); err != nil {
		t.Fatal(err)
	}
	made := len(c.Notes.Calls())
	var got []string
	differ, err := c.Replay(t.Context(), replay.Request{Name: "s", Report: func(r replay.Result) {
		got = append(got, fmt.Sprintf("%d.%d %v", r.Message, r.Index, r.Same()))
	}})
	want := []string{"0.0 true", "0.1 true", "0.2 true", "1.0 true", "1.1 false", "2.0 true"}
	if err != nil || differ != 1 || !slices.Equal(got, want) {
		t.Errorf("%d differ, %v: %q, want %q", differ, err, got, want)
	}
	if n := len(c.Notes.Calls()) - made; n != 6 {
		t.Errorf("%d calls were made", n)
	}
	notebook(c) // fails if there is more than one
	c.Fsck()
}

// TestReplayRefuses checks sessions that cannot be replayed, and calls whose results cannot be compared.
func TestReplayRefuses(t *testing.T) {
	c := enginetest.New(t)
	replayed := func(name string) ([]string, error) {
		var got []string
		_, err := c.Replay(t.Context(), replay.Request{Name: name, Report: func(r replay.Result) {
			got = append(got, fmt.Sprintf("%d.%d %t", r.Message, r.Index, r.Same()))
		}})
		return got, err
	}
	if _, err := replayed("none"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
	c.ImportFile(c.WriteFile("untrusted.md", threeCalls))
	if _, err := replayed("untrusted"); err == nil {
		t.Error("an untrusted session was replayed")
	}
	c.Trusted("s", threeCalls)
	if got, err := replayed("s"); err != nil || got != nil {
		t.Errorf("nothing was called yet: %q, %v", got, err)
	}
	if len(c.Notes.Calls()) > 0 {
		t.Errorf("called %q", c.Notes.Calls())
	}
	run(c, 0)
	before := listed(c)
	want := []string{"1.0 true", "3.0 true", "3.1 true", "4.0 true"}
	if got, err := replayed("s"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
	if after := listed(c); after != before || !strings.Contains(after, "a=2 b=2 c=3") {
		t.Errorf("the live workspace was %q and is %q", before, after)
	}
	// A document may claim results of calls that were never made here.
	c.Trusted("copy", c.Shown("s"))
	if got, err := replayed("copy"); err != nil || got != nil {
		t.Errorf("results that no version confirms: %q, %v", got, err)
	}
}
