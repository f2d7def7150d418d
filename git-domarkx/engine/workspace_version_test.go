package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// at parses a revision.
func at(t *testing.T, revision string) engine.Revision {
	t.Helper()
	r, err := engine.ParseRevision(revision)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// worked returns a clone in which a session made three calls, and the versions that they left: v0 before the first.
// Message 0 is the user's, 1, 2 and 4 made the calls, and 3 and 5 are texts.
func worked(t *testing.T) (*clone, map[string]string) {
	t.Helper()
	c := newClone(t)
	versions := map[string]string{}
	commit := func(name, operation string, call *domarkx.CallRecord) string {
		v := c.Committed("s", enginetest.WorkTree, map[string]string{"f": name}, domarkx.VersionCommit{Operation: operation, Call: call})
		versions[v.ID] = name
		return v.ID
	}
	said := enginetest.Saying(domarkx.Assistant, "Done.")
	c.Linked("s", "", enginetest.Saying(domarkx.User, "Go on."))
	commit("v0", "create", nil)
	call := func(name string) {
		tip := commit(name, "call", &domarkx.CallRecord{Session: "s", Message: domarkx.NewID(uint32(len(versions)), c.Now), Tool: "write_file"})
		c.Linked("s", tip, enginetest.Calling("", "write_file", `{}`))
	}
	call("v1")
	call("v2")
	c.Linked("s", "", said)
	call("v3")
	c.Linked("s", "", said)
	return c, versions
}

func TestVersionAt(t *testing.T) {
	c, versions := worked(t)
	for revision, want := range map[string]string{
		"s": "v3", "s#5": "v3", "s#4": "v3", "s#3": "v2", "s#2": "v2", "s#1": "v1", "s#0": "", "s~1#4": "v3", "s~2#3": "v2", "s~2": "v2", "s~5": "", "s#6": "", "t": "",
	} {
		v, err := c.VersionAt(t.Context(), at(t, revision))
		if got := versions[v.ID]; got != want || (want == "") != errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("VersionAt(%s) = %q, %v; want %q", revision, got, err, want)
		}
	}
}

func TestResolveVersion(t *testing.T) {
	c, versions := worked(t)
	v1 := ""
	for id, name := range versions {
		if name == "v1" {
			v1 = id
		}
	}
	tests := []struct{ revision, want, err string }{
		{"s", "v3", ""},
		{"s~0", "v3", ""},
		{"s~1", "v2", ""},
		{"s~3", "v0", ""},
		{"s~4", "", "only 3 come before it"},
		{"s@" + v1[:10], "v1", ""},
		{"s@" + v1 + "~1", "v0", ""},
		{"s@ffffffffff", "", "not found"},
		{"s@xyz", "", "invalid"},
		{"s#2", "v2", ""},
		{"none", "", "not found"},
	}
	for _, tt := range tests {
		v, err := c.ResolveVersion(t.Context(), at(t, tt.revision))
		if tt.err == "" && (err != nil || versions[v.ID] != tt.want) {
			t.Errorf("%s: %q, %v; want %q", tt.revision, versions[v.ID], err, tt.want)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v; want %q", tt.revision, err, tt.err)
		}
	}
	list, err := c.Store.Workspaces(t.Context())
	if err != nil || len(list) != 1 || versions[list[0].ID] != "v3" {
		t.Errorf("%+v, %v", list, err)
	}
}

// TestMissingWorkspace checks the hints for a session whose workspace does not exist or has another name.
func TestMissingWorkspace(t *testing.T) {
	c := newClone(t)
	c.Appended("alone", "Hello.")
	c.Appended("guest", "Hello.")
	if err := c.Assign(t.Context(), "guest", "host"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"alone": "git domarkx run alone",
		"guest": `the session "guest" uses the workspace "host"`,
		"none":  "not found",
	} {
		_, err := c.ResolveVersion(t.Context(), at(t, name))
		if !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", name, err, want)
		}
	}
	other := errors.New("damaged")
	if err := c.ElsewhereError(t.Context(), "guest", other); err != other {
		t.Errorf("another error became %v", err)
	}
}

func TestVersionLog(t *testing.T) {
	c, versions := worked(t)
	for revision, want := range map[string]string{"s": "v3 v2 v1 v0", "s~2": "v1 v0", "s#2": "v2 v1 v0", "s~9": "error", "t": "error"} {
		var got []string
		for v, err := range c.VersionLog(t.Context(), at(t, revision)) {
			if err != nil {
				got = append(got, "error")
				continue
			}
			got = append(got, versions[v.ID])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", revision, got, want)
		}
	}
	for range c.VersionLog(t.Context(), at(t, "s")) {
		break // nothing is called after that
	}
}

// TestLinkAt finds links in a session that is too long to read its messages one by one.
func TestLinkAt(t *testing.T) {
	c := newClone(t)
	v := c.Committed("s", enginetest.WorkTree, nil, domarkx.VersionCommit{Operation: "call"})
	forged := c.Committed("other", enginetest.WorkTree, map[string]string{"f": "x"}, domarkx.VersionCommit{Operation: "call"})
	c.Linked("s", "", enginetest.Saying(domarkx.User, "Go on."))
	c.Linked("s", v.ID, enginetest.Calling("", "write_file", `{}`))
	tip := c.Tip("s")
	state, err := c.Store.Load(t.Context(), tip.ID)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 80 { // a document can claim any link, which counts only if the history has it
		e := state.Thread.Live[0]
		e.ID, e.After = domarkx.NewID(uint32(n), c.Now), state.Thread.Live[len(state.Thread.Live)-1].ID
		if n%3 == 0 {
			e.Link = forged.ID
		}
		state.Thread.Live = append(state.Thread.Live, e)
	}
	author, committer, err := c.Env.Identity(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = c.Update(t.Context(), "test", func(tx *transaction.Tx) error {
		if tip, err = c.ContinueWith(t.Context(), tx, tip, state, engine.Change{Name: "s", Operation: "edit", Author: author, Committer: committer}, "edit"); err != nil {
			return err
		}
		return tx.Set(t.Context(), "s", tip, trust.Unchanged)
	})
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range map[int]string{-1: "", 0: "", 1: v.ID, 2: v.ID, 31: v.ID, 32: v.ID, 33: v.ID, 60: v.ID, 81: v.ID} {
		if got, err := c.LinkAt(t.Context(), tip.ID, k); err != nil || got != want {
			t.Errorf("message %d: %q, %v; want %q", k, got, err, want)
		}
	}
	if _, err := c.LinkAt(t.Context(), tip.ID, 82); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("after the last message: %v", err)
	}
}

// TestBeforeCalls finds the version before the calls of messages that are removed.
func TestBeforeCalls(t *testing.T) {
	c := newClone(t)
	var links, messages []string
	ids := map[string]domarkx.ID{}
	c.Linked("s", "", enginetest.Saying(domarkx.User, "Go on."))
	before := c.Committed("s", enginetest.WorkTree, nil, domarkx.VersionCommit{Operation: "create"})
	for n := range 3 {
		e := c.Linked("s", "", enginetest.Calling("", "write_file", `{}`))
		v := c.Committed("s", enginetest.WorkTree, map[string]string{"f": fmt.Sprint(n)}, domarkx.VersionCommit{Operation: "call",
			Call: &domarkx.CallRecord{Session: "s", Message: e.ID, Tool: "write_file"}})
		c.Linked("s", v.ID, enginetest.Saying(domarkx.Assistant, "Done."))
		links, messages = append(links, v.ID), append(messages, fmt.Sprint(n))
		ids[messages[n]] = e.ID
	}
	foreign := c.Committed("s", enginetest.WorkTree, map[string]string{"f": "foreign"}, domarkx.VersionCommit{Operation: "call",
		Call: &domarkx.CallRecord{Session: "s", Message: ids["0"], Tool: "write_file"}})
	for removed, want := range map[string]string{"0 1 2": before.ID, "1 2": links[0], "2": links[1], "1": links[0], "": ""} {
		chosen := map[domarkx.ID]bool{}
		for _, n := range strings.Fields(removed) {
			chosen[ids[n]] = true
		}
		if got, err := c.BeforeCalls(t.Context(), c.Tip("s").ID, foreign.ID, chosen); err != nil || got != want {
			t.Errorf("messages %q: %q, %v; want %q", removed, got, err, want)
		}
	}
	if _, err := c.BeforeCalls(t.Context(), c.Tip("s").ID, strings.Repeat("1", 40), nil); err == nil {
		t.Error("no error for a version that does not exist")
	}
}

// TestStateAt finds the version that held when a snapshot was the newest one.
func TestStateAt(t *testing.T) {
	c, versions := worked(t)
	var snapshots []domarkx.Info
	for info, err := range c.Log(t.Context(), at(t, "s")) {
		if err != nil {
			t.Fatal(err)
		}
		snapshots = append(snapshots, info)
	}
	tip := c.Tip("s")
	var got []string
	for _, info := range snapshots {
		state, err := c.StateAt(t.Context(), tip, info)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, versions[state])
	}
	if want := []string{"v3", "v3", "v2", "v2", "v1", "", ""}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestVacant checks which names a live workspace can get.
func TestVacant(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "a", "text": "b"}`))
	if _, err := c.Run(t.Context(), turns.RunRequest{Name: "s"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, to string
		taken    bool
	}{{"s", "s", false}, {"s", "t", false}, {"t", "s", true}} {
		if err := c.CheckVacant(t.Context(), tt.from, tt.to); errors.Is(err, domarkx.ErrExists) != tt.taken || err != nil && !tt.taken {
			t.Errorf("%s to %s: %v", tt.from, tt.to, err)
		}
	}
}

// TestCheckResource checks that a version with other files than its plugin creates is refused only if it is new.
func TestCheckResource(t *testing.T) {
	c := newClone(t)
	good := c.Committed("s", enginetest.WorkTree, map[string]string{"f": "a"}, domarkx.VersionCommit{Operation: "create"}).Resources[0]
	if err := c.CheckResource(t.Context(), "", good); err != nil {
		t.Error(err)
	}
	missing := good
	missing.Version = strings.Repeat("2", 40)
	if err := c.CheckResource(t.Context(), "", missing); err == nil || !strings.Contains(err.Error(), `resource "files"`) {
		t.Errorf("a missing version: %v", err)
	}
	if err := c.CheckResource(t.Context(), missing.Version, missing); err != nil {
		t.Errorf("a version that was checked: %v", err)
	}
	if got := engine.ResourceVersion([]domarkx.ResourceVersion{good}, "files"); got != good.Version {
		t.Errorf("%q", got)
	}
	if got := engine.ResourceVersion(nil, "files"); got != "" {
		t.Errorf("%q", got)
	}
}
