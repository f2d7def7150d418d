package engine_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/gitstore"
)

// TestRenamings checks the record of renames, which keeps old names from returning by a pull.
func TestRenamings(t *testing.T) {
	c := newClone(t)
	read := func() string {
		t.Helper()
		all, err := c.Renamings()
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	steps := []struct{ from, to, want string }{
		{"", "", `{}`},
		{"a", "a", `{}`}, // no rename
		{"a", "b", `{"a":{"to":"b","tip":"1"}}`},
		{"b", "c", `{"a":{"to":"b","tip":"1"},"b":{"to":"c","tip":"1"}}`},
		{"c", "a", `{"b":{"to":"c","tip":"1"},"c":{"to":"a","tip":"1"}}`}, // the first name is taken again
	}
	for _, step := range steps {
		if step.from != "" {
			if err := c.RememberRenamed(step.from, engine.Renaming{To: step.to, Tip: "1"}); err != nil {
				t.Fatal(err)
			}
		}
		if got := read(); got != step.want {
			t.Errorf("%s to %s: %s, want %s", step.from, step.to, got, step.want)
		}
	}
	file := filepath.Join(c.Env.StateDir, "renamed.json")
	for _, damaged := range []string{"", "{", "[]", `{"a": 7}`} {
		if err := os.WriteFile(file, []byte(damaged), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != `{}` {
			t.Errorf("damaged %q: %s", damaged, got)
		}
	}
	if err := errors.Join(os.Remove(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Renamings(); err == nil || !strings.Contains(err.Error(), "reading the record of renames") {
		t.Errorf("unreadable: %v", err)
	}
	if err := c.RememberRenamed("a", engine.Renaming{To: "b"}); err == nil {
		t.Error("unreadable: no error")
	}
}

// TestAssign checks which workspace a session works in.
func TestAssign(t *testing.T) {
	c := newClone(t)
	ctx := t.Context()
	for _, step := range []struct{ session, workspace, want string }{
		{"s", "", "s"}, {"s", "s", "s"}, {"s", "w", "w"}, {"s", "v", "v"}, {"s", "s", "s"}, {"st", "w", "w"}, {"s", "", "s"},
	} {
		if err := c.Assign(ctx, step.session, step.workspace); err != nil {
			t.Fatal(err)
		}
		if got, err := c.WorkspaceOf(ctx, step.session); err != nil || got != step.want {
			t.Errorf("%s assigned to %q: %q, %v", step.session, step.workspace, got, err)
		}
	}
	if got, err := c.WorkspaceOf(ctx, "st"); err != nil || got != "w" {
		t.Errorf("the other session: %q, %v", got, err)
	}
	if all, err := c.Attached(ctx); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestCheckSnapshot reports each damaged part of a session.
func TestCheckSnapshot(t *testing.T) {
	c := newClone(t)
	c.Appended("s", "one")
	tip := c.Appended("s", "two")
	if found, err := c.CheckSnapshot(t.Context(), tip); err != nil || found != nil {
		t.Errorf("undamaged: %+v, %v", found, err)
	}
	wrong := tip
	wrong.Bytes++
	if found, err := c.CheckSnapshot(t.Context(), wrong); err != nil || len(found) != 1 || !strings.Contains(found[0].What, "size") || !strings.Contains(found[0].Fix, "rewind s~1") {
		t.Errorf("a wrong size: %+v, %v", found, err)
	}
	gone := tip
	gone.ID = strings.Repeat("1", 40)
	if found, err := c.CheckSnapshot(t.Context(), gone); err != nil || len(found) != 1 || found[0].Severity != "error" || found[0].Where != "s@"+gone.ID {
		t.Errorf("no snapshot: %+v, %v", found, err)
	}
	noticed := 0
	for _, file := range c.Unpack() {
		away := filepath.Join(t.TempDir(), "object")
		if err := os.Rename(file, away); err != nil {
			t.Fatal(err)
		}
		found, err := openClone(t, c.Dir, c.Settings).CheckSnapshot(t.Context(), tip)
		if err != nil {
			t.Errorf("without %s: %v", file, err)
		}
		if len(found) > 0 {
			noticed++
		}
		if err := os.Rename(away, file); err != nil {
			t.Fatal(err)
		}
	}
	if noticed < 3 { // the commit, its tree and both messages
		t.Errorf("%d missing objects were noticed", noticed)
	}
}

// TestDocumentChecks refuses snapshots from remotes whose commits state a wrong size or a long preview.
func TestDocumentChecks(t *testing.T) {
	c := newClone(t)
	first := c.Appended("s", "one")
	tip := c.Appended("s", "two")
	checks := engine.DocumentChecks{Store: c.Store}
	if err := errors.Join(checks.Snapshot(t.Context(), first.ID, "", 0), checks.Snapshot(t.Context(), tip.ID, first.ID, 1), checks.Snapshot(t.Context(), tip.ID, "", 0)); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*domarkx.Commit){
		"larger":         func(commit *domarkx.Commit) { commit.Bytes++ },
		"smaller":        func(commit *domarkx.Commit) { commit.Bytes = 1 },
		"a long preview": func(commit *domarkx.Commit) { commit.Preview = strings.Repeat("é", 54) },
	} {
		forged := c.forged(tip, change)
		if err := checks.Snapshot(t.Context(), forged, "", 0); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
		if err := checks.Snapshot(t.Context(), forged, first.ID, 1); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s, after a verified one: %v", name, err)
		}
	}
	if forged := c.forged(tip, func(commit *domarkx.Commit) { commit.Preview = strings.Repeat("é", 53) }); checks.Snapshot(t.Context(), forged, "", 0) != nil {
		t.Error("a preview of the greatest length is refused")
	}
	if err := checks.Snapshot(t.Context(), strings.Repeat("1", 40), "", 0); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no snapshot: %v", err)
	}
	entry, err := c.Store.Entry(t.Context(), tip.ID, 1)
	if err != nil {
		t.Fatal(err)
	}
	doc, _, err := c.Document(t.Context(), at(t, "s"))
	if err != nil {
		t.Fatal(err)
	}
	if err := checks.Message(entry, doc.Conversation[1].Message); err != nil {
		t.Errorf("its message: %v", err)
	}
	if err := checks.Message(entry, doc.Conversation[0].Message); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("another message: %v", err)
	}
	entry.Layout.Size++
	if err := checks.Message(entry, doc.Conversation[1].Message); !errors.Is(err, domarkx.ErrCorrupt) {
		t.Errorf("another size: %v", err)
	}
	if _, _, err := c.Document(t.Context(), at(t, "none")); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
}

// forged commits a snapshot with the text of another one, as a remote could send it.
func (c *clone) forged(tip domarkx.Info, change func(*domarkx.Commit)) string {
	c.T.Helper()
	ctx := c.T.Context()
	state, err := c.Store.Load(ctx, tip.ID)
	if err != nil {
		c.T.Fatal(err)
	}
	who := domarkx.Signature{Name: "Eve", Email: "eve@example.org", When: c.Now}
	commit := domarkx.Commit{Parents: []string{tip.ID}, State: state, Bytes: tip.Bytes, Preview: tip.Preview, Operation: "edit", Subject: "edit", Author: who, Committer: who}
	change(&commit)
	var info domarkx.Info
	err = c.Store.Update(ctx, "test", func(tx *gitstore.Tx) (err error) {
		if info, err = tx.Commit(ctx, commit); err != nil {
			return err
		}
		return tx.Set(ctx, "forged-"+info.ID[:8], info.ID)
	})
	if err != nil {
		c.T.Fatal(err)
	}
	return info.ID
}
