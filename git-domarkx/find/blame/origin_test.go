package blame_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/find/blame"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestCallsAndPersons(t *testing.T) {
	d := newDesk(t)
	d.Committed("s", enginetest.WorkTree, files("f", "a b"), domarkx.VersionCommit{Operation: "create"})
	first := d.call("s", "f", "a one b")
	d.change("s", "f", "a one b hand")
	d.call("s", "f", "a one two b hand")
	d.write("f", "a one two b hand now")
	found := d.wrote("f", "a one=s#0 two=s#1 b hand now")
	if got := found[1].Origin; got.ID != first.ID || got.Model != "m" || got.Date == 0 || got.Version == "" || got.Commit != "" {
		t.Errorf("the origin of the first call: %+v", got)
	}
	if got := found[0].Origin; got.Message != -1 || got.Date != 0 || got.Version != "" {
		t.Errorf("the origin of a person's line: %+v", got)
	}
	d.write("f", "one")
	d.wrote("f", "one=s#0")
}

// TestLineEnds checks that a change of line ends alone does not make the lines a person's.
func TestLineEnds(t *testing.T) {
	d := newDesk(t)
	d.call("s", "f", "a b c")
	d.WriteFile("f", "a\r\nb\r\nc")
	found, err := d.m.File(t.Context(), "f", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range found {
		if line.Source != blame.Session {
			t.Errorf("%q is not the session's", line.Text)
		}
	}
}

// TestNames checks which name and message a call has after its session changed.
func TestNames(t *testing.T) {
	update := func(d *desk, change func(*gitstore.Tx) error) {
		if err := d.Store.Update(t.Context(), "test", change); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name, want string
		change     func(d *desk)
	}{
		{"nothing", "a=s#0", func(*desk) {}},
		{"the session was removed", "a=s#-1", func(d *desk) {
			update(d, func(tx *gitstore.Tx) error { return tx.ToTrash(t.Context(), "s") })
		}},
		{"the message was removed", "a=s#-1", func(d *desk) { d.Saved("s", d.Tip("s").ID, "") }},
		{"a message was inserted before it", "a=s#1", func(d *desk) { d.Saved("s", d.Tip("s").ID, "## user\n\nDo it.\n\n"+d.Shown("s")) }},
		{"only the session was renamed", "a=t#0", func(d *desk) {
			update(d, func(tx *gitstore.Tx) error { return tx.Rename(t.Context(), "s", "t") })
			if err := local.Attach(t.Context(), d.Settings, "t", "s"); err != nil {
				t.Fatal(err)
			}
		}},
		{"only the workspace was renamed", "a=s#0", func(d *desk) {
			update(d, func(tx *gitstore.Tx) error { return tx.RenameWorkspace(t.Context(), "s", "w") })
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newDesk(t)
			d.call("s", "f", "a")
			d.write("f", "a")
			tt.change(d)
			d.T = t
			d.wrote("f", tt.want)
		})
	}
}

// TestPlaces checks which file of a version is that of the work tree, by the configuration of its resource.
func TestPlaces(t *testing.T) {
	d := newDesk(t)
	tests := []struct {
		name, config, stored, want string
	}{
		{"in place", `{"type": "filesystem", "path": "."}`, "sub/f", "a=s#-1 b=s#-1 c=s#-1"},
		{"in a directory in place", `{"type": "filesystem", "path": "sub"}`, "f", "a=s#-1 b=s#-1 c=s#-1"},
		{"in a directory in place, unclean", `{"type": "filesystem", "path": "./sub/"}`, "f", "a=s#-1 b=s#-1 c=s#-1"},
		{"in another directory", `{"type": "filesystem", "path": "other"}`, "sub/f", "a b c"},
		{"in a directory with a longer name", `{"type": "filesystem", "path": "su"}`, "f", "a b c"},
		{"in a directory of its own", `{"type": "filesystem"}`, "sub/f", "a=s#-1 b=s#-1 c=s#-1"},
		{"in a directory of its own, without the first directory", `{"type": "filesystem"}`, "f", "a=s#-1 b=s#-1 c=s#-1"},
		{"below", `{"type": "filesystem", "path": "."}`, "sub/f/f", "a b c"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d.T = t
			d.clear()
			d.Committed("s", tt.config, files(tt.stored, "a b c"), domarkx.VersionCommit{Operation: "call"})
			d.write("sub/f", "a b c")
			d.wrote("sub/f", tt.want)
		})
	}
}

// TestUnrelatedFileElsewhere checks that a resource with a directory of its own explains a file of the work tree
// only if half of the lines are equal: it may be another file with the same name.
func TestUnrelatedFileElsewhere(t *testing.T) {
	d := newDesk(t)
	for stored, want := range map[string]string{
		"a b c x": "a=s#-1 b=s#-1 c=s#-1 d",
		"a b x y": "a=s#-1 b=s#-1 c d",
		"a x y z": "a b c d",
	} {
		d.clear()
		d.Committed("s", `{"type": "filesystem"}`, files("f", stored), domarkx.VersionCommit{Operation: "call"})
		d.write("f", "a b c d")
		d.wrote("f", want)
	}
}

// TestRemovedAndRestored removes the file, and a call writes it again.
func TestRemovedAndRestored(t *testing.T) {
	d := newDesk(t)
	d.call("s", "f", "a b")
	d.Committed("s", enginetest.WorkTree, nil, domarkx.VersionCommit{Operation: "change"})
	d.call("s", "f", "a c")
	d.write("f", "a c")
	d.wrote("f", "a=s#1 c=s#1") // the second call wrote the whole file
}

// TestForksAndMerges checks lines that came to a version by another parent.
func TestForksAndMerges(t *testing.T) {
	d := newDesk(t)
	d.call("s", "f", "a b")
	base, err := d.Store.WorkspaceTip(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	theirs := d.Linked("t", "", enginetest.Calling("m", "write_file", `{"path": "f"}`))
	fork := d.Committed("t", enginetest.WorkTree, files("f", "a b fork"), domarkx.VersionCommit{Parents: []string{base.ID}, Operation: "call",
		Call: &domarkx.CallRecord{Session: "t", Message: theirs.ID, Resource: "files", Tool: "write_file"}})
	d.call("s", "f", "own a b")
	own, err := d.Store.WorkspaceTip(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	d.Committed("s", enginetest.WorkTree, files("f", "own a b fork"), domarkx.VersionCommit{Parents: []string{own.ID, fork.ID}, Operation: "merge"})
	d.write("f", "own a b fork")
	d.wrote("f", "own=s#1 a=s#0 b=s#0 fork")
	d.write("f", "a b fork")
	d.wrote("f", "a=s#0 b=s#0 fork=t#0")
}

// TestOriginsProperty lets sessions and a person insert and remove lines that all differ, at random, and checks that
// each line is said to be by whoever inserted it. A person removes at most a line between two versions: of texts
// that lack more, several can be the closest.
func TestOriginsProperty(t *testing.T) {
	type line struct{ text, by string }
	for seed := range uint64(gittest.Rounds(1, 30)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			d := newDesk(t)
			var file []line
			words := func() string {
				var list []string
				for _, l := range file {
					list = append(list, l.text)
				}
				return strings.Join(list, " ")
			}
			next, stored := 0, map[string]string{}
			calls := map[string]int{}
			edit := func(by string, removed int) {
				for range min(removed, len(file)) {
					at := random.IntN(len(file))
					file = slices.Delete(file, at, at+1)
				}
				for range 1 + random.IntN(3) {
					next++
					file = slices.Insert(file, random.IntN(len(file)+1), line{fmt.Sprint("l", next), by})
				}
			}
			for range 10 {
				session := []string{"x", "y"}[random.IntN(2)]
				if random.IntN(3) == 0 {
					edit("", random.IntN(2))
				}
				if now := words(); stored[session] != now {
					d.change(session, "f", now)
				}
				edit(fmt.Sprintf("=%s#%d", session, calls[session]), random.IntN(3))
				calls[session]++
				d.call(session, "f", words())
				stored[session] = words()
			}
			edit("", random.IntN(2))
			var want []string
			for _, l := range file {
				want = append(want, l.text+l.by)
			}
			d.write("f", words())
			d.wrote("f", strings.Join(want, " "))
		})
	}
}

// TestRenamedByACall blames a file that a call or a person renamed between two versions.
func TestRenamedByACall(t *testing.T) {
	for name, tt := range map[string]struct{ operation, words, want string }{
		"a call":                          {"call", "one two hand", "one=s#0 two=s#0 hand"},
		"a call that edits":               {"call", "one new two hand", "one=s#0 new=r#0 two=s#0 hand"},
		"a call that writes another file": {"call", "one a b c d", "one=r#0 a=r#0 b=r#0 c=r#0 d=r#0"},
		"a person":                        {"change", "one two hand more", "one=s#0 two=s#0 hand more"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.call("s", "dir/old", "one two")
			d.change("s", "dir/old", "one two hand")
			e := d.Linked("r", "", enginetest.Calling("m", "run_command", `{"command": "make"}`))
			v := domarkx.VersionCommit{Operation: tt.operation}
			if tt.operation == "call" {
				v.Call = &domarkx.CallRecord{Session: "r", Message: e.ID, Resource: "files", Tool: "run_command"}
			}
			d.Committed("s", enginetest.WorkTree, files("new", tt.words), v)
			d.write("new", tt.words)
			d.wrote("new", tt.want)
		})
	}
}
