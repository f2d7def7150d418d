package blame_test

import (
	"os"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
	"github.com/domarkx/domarkx/gitstore"
)

func removeWorkspace(d *desk, name string) error {
	return d.Store.Update(d.T.Context(), "rm", func(tx *gitstore.Tx) error { return tx.WorkspaceToTrash(d.T.Context(), name) })
}

func (d *desk) commit(subject string) string {
	d.T.Helper()
	d.git("add", "-A", ".")
	d.git("commit", "-q", "-m", subject)
	return d.git("rev-parse", "HEAD")
}

// TestCommittedLines checks lines that only a commit explains: no version has the text of the work tree or one that
// is close to it.
func TestCommittedLines(t *testing.T) {
	unusual := "dir\t\"é\\/ü\n.go"
	tests := []struct {
		name, path string
		after      func(d *desk) string // what happens after the commit, and the path then
		want       string
	}{
		{"as committed", "f", func(*desk) string { return "f" }, "one=s#0 two=s#0 hand"},
		{"renamed", "f", func(d *desk) string { d.git("mv", "f", "g"); d.commit("rename"); return "g" }, "one=s#0 two=s#0 hand"},
		{"renamed from an unusual name", unusual, func(d *desk) string { d.git("mv", unusual, "g"); d.commit("rename"); return "g" }, "one=s#0 two=s#0 hand"},
		{"renamed to an unusual name", "f", func(d *desk) string {
			d.WriteFile(unusual, "")
			os.Remove(d.path(unusual))
			d.git("mv", "f", unusual)
			d.commit("rename")
			return unusual
		}, "one=s#0 two=s#0 hand"},
		{"edited since", "f", func(d *desk) string { d.write("f", "new one"); d.commit("edit"); return "f" }, "new one=s#0"},
		{"edited and not committed", "f", func(d *desk) string { d.write("f", "new one"); return "f" }, "new one=s#0"},
		{"never committed", "f", func(d *desk) string { d.write("h", "x one"); return "h" }, "x one"},
		{"ignored revisions", "f", func(d *desk) string {
			d.write("f", "one two HAND")
			d.WriteFile("ignored", d.commit("upper case")+"\n")
			d.git("config", "blame.ignoreRevsFile", d.path("ignored"))
			return "f"
		}, "one=s#0 two=s#0 HAND"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			d.call("s", tt.path, "one two")
			d.write(tt.path, "one two hand")
			d.commit("work")
			d.wrote(tt.after(d), tt.want)
		})
	}
}

// TestPersonsCommit checks the commit and the date of a person's lines.
func TestPersonsCommit(t *testing.T) {
	d := newDesk(t)
	d.write("f", "a")
	first := d.commit("first")
	d.write("f", "a b")
	second := d.commit("second")
	d.write("f", "a b c")
	found := d.wrote("f", "a b c")
	for i, want := range []string{first, second, ""} {
		if found[i].Commit != want || (found[i].Date == 0) != (want == "") || found[i].Source != blame.Person {
			t.Errorf("line %d: %+v, want commit %q", i+1, found[i].Origin, want)
		}
	}
	some, err := d.m.File(t.Context(), "f", 2, 2)
	if err != nil || len(some) != 1 || some[0].Commit != second || some[0].Text != "b" {
		t.Errorf("one line: %+v, %v", some, err)
	}
}

// TestCommittedContentOfAnotherName follows the content that a commit gave to a file which had another name then,
// and which versions have by that name only.
func TestCommittedContentOfAnotherName(t *testing.T) {
	d := newDesk(t)
	d.call("s", "old", "one two three four")
	d.write("old", "one two three four")
	d.commit("work")
	d.git("mv", "old", "new")
	d.write("new", "one changed three four")
	d.commit("rename")
	if err := removeWorkspace(d, "s"); err != nil {
		t.Fatal(err)
	}
	d.wrote("new", "one changed three four")
	if err := d.Store.Update(t.Context(), "restore", func(tx *gitstore.Tx) error {
		_, err := tx.WorkspaceFromTrash(t.Context(), "s")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	d.wrote("new", "one=s#0 changed three=s#0 four=s#0")
}

// TestWritersOfBothNames blames a renamed file. One session wrote lines under its old name, and another one
// under its new name.
func TestWritersOfBothNames(t *testing.T) {
	d := newDesk(t)
	d.call("s", "old", "one two")
	d.write("old", "one two")
	d.commit("work")
	d.git("mv", "old", "new")
	d.commit("rename")
	d.call("r", "new", "three")
	d.write("new", "one two three")
	d.wrote("new", "one=s#0 two=s#0 three=r#0")
}

// TestMissingObject blames a file with a committed content that cannot be read, as in a partial clone.
func TestMissingObject(t *testing.T) {
	d := newDesk(t)
	d.call("s", "f", "b")
	d.write("f", "a b")
	blob := d.git("rev-parse", d.commit("work")+":f")
	d.write("f", "c a b")
	if err := os.Remove(d.path(".git", "objects", blob[:2], blob[2:])); err != nil {
		t.Fatal(err)
	}
	d.wrote("f", "c a b=s#0")
}

// TestLargeContent checks that a version with a content that is too large to be compared explains nothing.
func TestLargeContent(t *testing.T) {
	d := newDesk(t)
	d.Committed("s", enginetest.WorkTree, map[string]string{"f": "a\n" + strings.Repeat("x", blame.MaxSize)}, domarkx.VersionCommit{Operation: "call"})
	d.write("f", "a")
	d.wrote("f", "a")
}
