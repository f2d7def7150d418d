package blame_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

// turn stores an observed version of a work tree at the end of a turn, or after the calls with these ids.
func (d *desk) turn(workspace, path, words string, shared []string, calls ...string) domarkx.Version {
	d.T.Helper()
	operation := "turn"
	if calls != nil {
		operation = "batch"
	}
	return d.Committed(workspace, enginetest.WorkTree, files(path, words), domarkx.VersionCommit{
		Operation: operation, Overlap: domarkx.Overlap{Shared: shared}, Observed: &domarkx.Observation{Branch: "main", Calls: calls}})
}

// TestOverlappingTurns lets two sessions work in the same work tree at the same time. Only the calls can say which of
// them wrote a line.
func TestOverlappingTurns(t *testing.T) {
	d := newDesk(t)
	deep := strings.Repeat("[", 20) + `"dir/f"` + strings.Repeat("]", 20)
	tests := []struct {
		name        string
		x, xArgs    string
		y, yArgs    string
		want        string
		withoutTurn bool // whether y left no version of its own
	}{
		{name: "the first one names it", x: "edit", xArgs: `{"path": "dir/f"}`, y: "edit", yArgs: `{"path": "dir/g"}`, want: "=x#1"},
		{name: "the second one names it", x: "edit", xArgs: `{"path": "dir/g"}`, y: "edit", yArgs: `{"path": "dir/f"}`, want: "=y#1"},
		{name: "both name it", x: "edit", xArgs: `{"path": "dir/f"}`, y: "edit", yArgs: `{"path": "dir/f"}`, want: "=?"},
		{name: "none names it", x: "bash", xArgs: `{"command": "make"}`, y: "bash", yArgs: `{"command": "make all"}`, want: "=?"},
		{name: "the other one only reads it", x: "edit", xArgs: `{"path": "dir/f"}`, y: "Read", yArgs: `{"path": "dir/f"}`, want: "=x#1"},
		{name: "it is only read", x: "grep", xArgs: `{"path": "dir/f"}`, y: "view_file", yArgs: `{"path": "dir/f"}`, want: "=?"},
		{name: "a command names it", x: "bash", xArgs: `{"command": "sed -i s/a/b/ ./dir/f"}`, y: "bash", yArgs: `{"command": "make"}`, want: "=x#1"},
		{name: "an absolute path", x: "edit", xArgs: `{"path": "/work/shop/dir/f"}`, y: "bash", yArgs: `{}`, want: "=x#1"},
		{name: "a longer name is another file", x: "edit", xArgs: `{"path": "dir/f.orig"}`, y: "bash", yArgs: `{}`, want: "=?"},
		{name: "in a list", x: "edit", xArgs: `{"edits": [{"n": 1}, {"files": ["a", "dir/f"]}]}`, y: "bash", yArgs: `{}`, want: "=x#1"},
		{name: "nested deeper than is searched", x: "edit", xArgs: `{"a": ` + deep + `}`, y: "bash", yArgs: `{}`, want: "=?"},
		{name: "the other one stored no version", x: "edit", xArgs: `{"path": "dir/f"}`, y: "edit", yArgs: `{"path": "dir/f"}`, withoutTurn: true, want: "=x#1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d.T = t
			d.clear()
			said := enginetest.Saying(domarkx.User, "Go on.")
			for _, session := range []string{"x", "y"} {
				v := d.Committed(session, enginetest.WorkTree, files("dir/f", "start"), domarkx.VersionCommit{Operation: "prompt", Observed: &domarkx.Observation{}})
				d.Linked(session, v.ID, said)
			}
			x := d.turn("x", "dir/f", "start line", []string{"y"})
			d.Linked("x", x.ID, enginetest.Calling("m", tt.x, tt.xArgs))
			if !tt.withoutTurn {
				y := d.turn("y", "dir/f", "start line", []string{"x"})
				d.Linked("y", y.ID, enginetest.Calling("m", tt.y, tt.yArgs))
			}
			d.write("dir/f", "start line")
			d.wrote("dir/f", "start line"+tt.want)
		})
	}
}

// TestOverlapKeepsCommittedLines checks that lines of the commit that HEAD was at are nobody's of those whose turns
// overlapped: they were there before.
func TestOverlapKeepsCommittedLines(t *testing.T) {
	d := newDesk(t)
	d.write("f", "old older")
	d.git("add", "f")
	d.git("commit", "-q", "-m", "old")
	head := d.git("rev-parse", "HEAD")
	missing := strings.Repeat("0", 40)
	for _, head := range []string{head, "", missing} {
		workspace := "of-" + head
		d.Committed(workspace, enginetest.WorkTree, files("f", "old older new"), domarkx.VersionCommit{Operation: "turn", Overlap: domarkx.Overlap{Shared: []string{"z"}}, Observed: &domarkx.Observation{Head: head}})
		d.write("f", "old older new")
		want := "old=? older=? new=?"
		if head != "" && head != missing {
			want = "old older new=?"
		}
		d.wrote("f", want)
		d.clear()
	}
}

// TestTurnsOfAgents checks which message of a turn wrote a line, where only the end of the turn was observed.
func TestTurnsOfAgents(t *testing.T) {
	d := newDesk(t)
	user, text := enginetest.Saying(domarkx.User, "Go on."), enginetest.Saying(domarkx.Assistant, "Done.")
	names := enginetest.Calling("m", "edit", `{"path": "f"}`)
	other := enginetest.Calling("m", "edit", `{"path": "g"}`)
	tests := []struct {
		name     string
		messages []domarkx.Message
		links    string // for each message, "p" for the prompt's version, "q" for the next one, "e" for that of the end, "-" for none
		want     int
	}{
		{"the call that names it", []domarkx.Message{user, names, other, text}, "p--e", 1},
		{"the last call that names it", []domarkx.Message{user, names, names, other, text}, "p---e", 2},
		{"no call names it: the last message", []domarkx.Message{user, other, text}, "p-e", 2},
		{"a call of an earlier turn does not count", []domarkx.Message{names, user, other, text}, "-p-e", 3},
		{"a call to which another version belongs does not count", []domarkx.Message{user, names, other, text}, "pq-e", 3},
		{"a message that came later with the same link", []domarkx.Message{user, other, names}, "pee", 1},
		{"no message links the version", []domarkx.Message{user, names}, "p-", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d.T = t
			d.clear()
			versions := map[rune]string{'-': ""}
			versions['p'] = d.Committed("x", enginetest.WorkTree, files("f", "a"), domarkx.VersionCommit{Operation: "prompt", Observed: &domarkx.Observation{}}).ID
			versions['q'] = d.turn("x", "f", "a", nil, "1").ID
			versions['e'] = d.turn("x", "f", "a b", nil).ID
			for k, c := range tt.links {
				d.Linked("x", versions[c], tt.messages[k])
			}
			d.write("f", "a b")
			d.wrote("f", fmt.Sprintf("a b=x#%d", tt.want))
		})
	}
}

// TestBatchesOfAMessage checks versions that no message links, because only the last of several batches is linked.
func TestBatchesOfAMessage(t *testing.T) {
	d := newDesk(t)
	call := enginetest.Calling("m", "edit", `{"path": "f"}`)
	d.turn("x", "f", "a", nil, "1")
	d.turn("x", "f", "a b", nil, "2")
	first := d.turn("x", "f", "a b c", nil, "3")
	second := d.turn("x", "f", "a b c d", nil, "4")
	d.turn("x", "f", "a b c d e", nil, "5")
	d.Linked("x", "", enginetest.Saying(domarkx.User, "Go on."))
	d.Linked("x", first.ID, call)
	d.Linked("x", second.ID, call)
	d.write("f", "a b c d e")
	d.wrote("f", "a=x#1 b=x#1 c=x#1 d=x#2 e=x#-1")
}

// TestVersionOfTheLastMessage checks a version that was linked by its time, before the last message of its turn was
// recorded.
func TestVersionOfTheLastMessage(t *testing.T) {
	for _, recorded := range []string{"before", "after"} {
		d := newDesk(t)
		other := enginetest.Calling("m", "bash", `{"command": "make"}`)
		d.Linked("x", "", enginetest.Saying(domarkx.User, "Go on."))
		v := d.turn("x", "f", "a", nil)
		if recorded == "before" { // the messages are as old as the version or older
			d.Now = d.Now.Add(-3e9)
		}
		d.Linked("x", v.ID, other)
		d.Linked("x", v.ID, enginetest.Calling("m", "edit", `{"path": "f"}`))
		d.write("f", "a")
		d.wrote("f", map[string]string{"before": "a=x#2", "after": "a=x#1"}[recorded])
	}
}

// TestPersonAndSessionAtOnce checks content that a person's version and one of an overlapping session both have.
func TestPersonAndSessionAtOnce(t *testing.T) {
	d := newDesk(t)
	for _, tt := range []struct {
		name, want string
		alone      bool // whether the person's version was stored while no session was at work
	}{{"a person who was alone", "a b", true}, {"a person meanwhile", "a b=y#0", false}} {
		t.Run(tt.name, func(t *testing.T) {
			d.T = t
			d.clear()
			var shared []string
			if !tt.alone {
				shared = []string{"y"}
			}
			d.change("x", "f", "a")
			d.Committed("x", enginetest.WorkTree, files("f", "a b"), domarkx.VersionCommit{Operation: "prompt", Overlap: domarkx.Overlap{Shared: shared}, Observed: &domarkx.Observation{}})
			d.change("y", "f", "a")
			y := d.turn("y", "f", "a b", nil)
			d.Linked("y", y.ID, enginetest.Calling("m", "edit", `{"path": "f"}`))
			d.write("f", "a b")
			d.wrote("f", tt.want)
		})
	}
}

// TestPromptWhileOthersWork checks changes that were found when a session began while another one was at work. They
// are the other's or a person's.
func TestPromptWhileOthersWork(t *testing.T) {
	d := newDesk(t)
	d.write("f", "committed")
	d.git("add", "f")
	d.git("commit", "-q", "-m", "first")
	prompt := domarkx.VersionCommit{Operation: "prompt", Overlap: domarkx.Overlap{Shared: []string{"y"}}, Observed: &domarkx.Observation{Head: d.git("rev-parse", "HEAD")}}
	d.Committed("x", enginetest.WorkTree, files("f", "committed found"), prompt)
	d.write("f", "committed found")
	d.wrote("f", "committed found=?")
	d.Committed("x", enginetest.WorkTree, files("f", "committed found later"), prompt)
	d.write("f", "committed found later")
	d.wrote("f", "committed found=? later=?")
}

// TestLaterVersionOfTheOther checks a line whose writer is known only by a later version: when the first session's
// version was taken, the second one had not stored its own.
func TestLaterVersionOfTheOther(t *testing.T) {
	d := newDesk(t)
	d.change("x", "f", "a")
	d.change("y", "f", "a")
	x := d.turn("x", "f", "a b c", []string{"y"})
	d.Linked("x", x.ID, enginetest.Calling("m", "bash", `{"command": "make"}`))
	y := d.turn("y", "f", "a b c d", []string{"x"})
	d.Linked("y", y.ID, enginetest.Calling("m", "edit", `{"path": "f"}`))
	d.write("f", "a b c d")
	d.wrote("f", "a b=y#0 c=y#0 d=y#0")
}

// TestSameSecond checks that a session's lines stay its own when another workspace begins in the same second: the first
// version there, which records a person's changes, has them, too.
func TestSameSecond(t *testing.T) {
	d := newDesk(t)
	prompt := domarkx.VersionCommit{Operation: "prompt", Observed: &domarkx.Observation{}}
	for _, others := range []string{"a b", "a b c"} { // the person may have added something
		d.clear()
		start := d.Now
		for _, store := range []func(){
			func() { d.Committed("x", enginetest.WorkTree, files("f", "a"), prompt) },
			func() {
				x := d.turn("x", "f", "a b", nil)
				d.Now = start
				d.Linked("x", x.ID, enginetest.Calling("m", "edit", `{"path": "f"}`))
			},
			func() { d.Committed("y", enginetest.WorkTree, files("f", others), prompt) },
		} {
			d.Now = start // the next commit is in the same second
			store()
		}
		d.write("f", others)
		d.wrote("f", strings.Replace(others, "b", "b=x#0", 1))
	}
}

// TestLatePrompt checks a prompt whose version was read after the first call may have begun: its lines can be the
// agent's.
func TestLatePrompt(t *testing.T) {
	d := newDesk(t)
	d.Committed("x", enginetest.WorkTree, files("f", "a"), domarkx.VersionCommit{Operation: "prompt", Observed: &domarkx.Observation{}})
	d.Committed("x", enginetest.WorkTree, files("f", "a b"), domarkx.VersionCommit{Operation: "prompt", Overlap: domarkx.Overlap{Late: true}, Observed: &domarkx.Observation{}})
	d.write("f", "a b")
	d.wrote("f", "a b=?")
}
