package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
)

// TestRevisionString checks that a revision reads back from its text.
func TestRevisionString(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := engine.Revision{
			Name:    rapid.StringMatching(`[a-zé][a-z/. -]{0,8}`).Draw(t, "name"),
			ID:      rapid.StringMatching(`([0-9a-f]{4,40})?`).Draw(t, "id"),
			Back:    rapid.IntRange(0, 1000).Draw(t, "back"),
			Message: rapid.IntRange(-1, 1000).Draw(t, "message"),
		}
		if got, err := engine.ParseRevision(r.String()); err != nil || got != r {
			t.Fatalf("%s reads as %+v, %v; want %+v", r, got, err, r)
		}
		if before := r.Before(); before.Back != r.Back+1 || before.Name != r.Name || before.ID != r.ID || before.Message != r.Message {
			t.Fatalf("before %+v is %+v", r, before)
		}
	})
}

func TestResolve(t *testing.T) {
	c := newClone(t)
	c.Saved("empty", "", "")
	first := c.Appended("s", "one")
	second := c.Appended("s", "two")
	c.Appended("t", "other")
	other := c.Tip("t")
	tests := []struct{ revision, want, err string }{
		{"s", second.ID, ""},
		{"s~", first.ID, ""},
		{"s@" + first.ID[:8], first.ID, ""},
		{"s#1", second.ID, ""},
		{"s~1#0", first.ID, ""},
		{"s~2", "", "it has 2 snapshots, see git domarkx log s"},
		{"s#2", "", "messages #0 to #1"},
		{"s~1#1", "", "one message, #0"},
		{"empty#0", "", "no messages"},
		{"s@" + other.ID, "", "not found"},
		{"s@" + strings.Repeat("0", 40), "", "not found"},
		{"none", "", "not found"},
		{"s~9223372036854775807~9223372036854775807", "", "too large"},
	}
	for _, tt := range tests {
		r, err := engine.ParseRevision(tt.revision)
		var info domarkx.Info
		if err == nil {
			info, err = c.Resolve(t.Context(), r)
		}
		if info.ID != tt.want && tt.err == "" || (tt.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %.10s, %v; want %.10s, %q", tt.revision, info.ID, err, tt.want, tt.err)
		}
	}
}

func TestLog(t *testing.T) {
	c := newClone(t)
	for _, text := range []string{"one", "two", "three"} {
		c.Appended("s", text)
	}
	subjects := func(revision string, most int) string {
		var got []string
		for info, err := range c.Log(t.Context(), at(t, revision)) {
			if err != nil {
				return "error"
			}
			if got = append(got, fmt.Sprint(info.Messages, info.Name)); len(got) == most {
				break
			}
		}
		return strings.Join(got, " ")
	}
	for revision, want := range map[string]string{"s": "3s 2s 1s", "s~1": "2s 1s", "s~3": "error", "none": "error"} {
		if got := subjects(revision, 9); got != want {
			t.Errorf("%s: %q, want %q", revision, got, want)
		}
	}
	if got := subjects("s", 1); got != "3s" {
		t.Errorf("the first one: %q", got)
	}
}

// TestMessages lists messages, with the links that the history confirms.
func TestMessages(t *testing.T) {
	c, versions := worked(t)
	forged := c.Shown("s")
	list := func(revision string) []string {
		var got []string
		for m, err := range c.SessionManager.Messages(t.Context(), at(t, revision)) {
			if err != nil {
				return append(got, "error")
			}
			got = append(got, fmt.Sprintf("%d %s %s %s", m.K, m.Role, versions[m.Link], m.FirstLine))
		}
		return got
	}
	call := "write_file files"
	want := []string{"0 user  Go on.", "1 assistant v1 " + call, "2 assistant v2 " + call, "3 assistant  Done.", "4 assistant v3 " + call, "5 assistant  Done."}
	got := list("s")
	for k := range want {
		if k >= len(got) || !strings.HasPrefix(got[k], strings.TrimSuffix(want[k], call)) {
			t.Errorf("message %d: %q, want %q", k, got, want[k])
		}
	}
	if one := list("s#2"); len(one) != 1 || one[0] != got[2] {
		t.Errorf("one message: %q", one)
	}
	if none := list("s#9"); fmt.Sprint(none) != "[error]" {
		t.Errorf("a message that does not exist: %q", none)
	}
	c.Saved("copy", "", forged) // the same text without the history
	for _, line := range list("copy") {
		if strings.Contains(line, " v") {
			t.Errorf("a link that no history confirms: %q", line)
		}
	}
	for range c.SessionManager.Messages(t.Context(), at(t, "s")) {
		break
	}
}

// TestSourceUpdated checks the times of sessions of other programs: one that changed here is as new as its snapshot.
func TestSourceUpdated(t *testing.T) {
	c := imported(t)
	c.Appended("own", "Hello.")
	updated := func(name string) string {
		list, err := c.ListAbout(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range list {
			if info.Name == name {
				return info.Described().SourceUpdated
			}
		}
		return "no session"
	}
	before := updated("s")
	if own := updated("own"); own != "" {
		t.Errorf("a session of no other program was updated there at %q", own)
	}
	c.Now = c.Now.AddDate(3, 0, 0)
	c.Appended("s", "More.")
	if after := updated("s"); after == before || !strings.HasPrefix(after, c.Now.Format("2006-01-02T15:04:")) {
		t.Errorf("updated %q, then %q", before, after)
	}
}

// TestConflicts counts the messages in conflict, by session.
func TestConflicts(t *testing.T) {
	c := inConflict(t, "## user\n\nthis\n", "## user\n\nthat\n")
	c.Appended("clean", "Hello.")
	list, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Conflicts(t.Context(), list)
	if err != nil || fmt.Sprint(got) != "map[a:1]" {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := c.Conflicts(t.Context(), list[1:]); err != nil || got != nil {
		t.Errorf("of the others: %v, %v", got, err)
	}
	for k, want := range []string{"this", "that"} {
		shown := c.Shown(fmt.Sprint("a#", k))
		if !strings.Contains(shown, `"conflict"`) || !strings.Contains(shown, want) && !strings.Contains(shown, map[string]string{"this": "that", "that": "this"}[want]) {
			t.Errorf("text %d: %s", k, shown)
		}
	}
}

// TestShowMessage shows messages of each layout one by one.
func TestShowMessage(t *testing.T) {
	c := newClone(t)
	document := "## user\n\nplain\n\n## Assistant\n\n> quoted\n\n## user\ntight\n"
	c.Saved("s", "", document)
	for k, want := range []string{"## user\n\nplain\n", "## Assistant\n\n> quoted\n", "## user\ntight\n"} {
		if got := c.Shown(fmt.Sprint("s#", k)); strings.TrimRight(got, "\n") != strings.TrimRight(want, "\n") {
			t.Errorf("message %d: %q, want %q", k, got, want)
		}
		if got := c.ShownIn(fmt.Sprint("s#", k), engine.JSON); !strings.Contains(got, `"role": "`) {
			t.Errorf("message %d as JSON: %s", k, got)
		}
	}
	linked, _ := worked(t)
	if got := linked.ShownIn("s#1", engine.JSON); !strings.Contains(got, domarkx.WorkspaceVersion) {
		t.Errorf("without its version: %s", got)
	}
	if got := linked.ShownIn("s", engine.JSON); strings.Count(got, domarkx.WorkspaceVersion) != 3 {
		t.Errorf("versions: %s", got)
	}
	if err := c.WriteMessage(t.Context(), c.Tip("s").ID, 9, engine.JSON, &strings.Builder{}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a message that does not exist: %v", err)
	}
}

// TestMadeElsewhere says which calls another program made: those of resources that the imported version lacks.
func TestMadeElsewhere(t *testing.T) {
	c := newClone(t)
	made := func(operation string) func(domarkx.Block) bool {
		t.Helper()
		link := ""
		if operation != "" {
			link = c.Committed("s", enginetest.WorkTree, nil, domarkx.VersionCommit{Operation: operation}).ID
		}
		elsewhere, err := c.MadeElsewhere(t.Context(), link)
		if err != nil {
			t.Fatal(err)
		}
		return elsewhere
	}
	block := func(resource string) domarkx.Block {
		return domarkx.Block{Type: domarkx.CodeBlock, Language: "tool-call", Text: `{"resource": "` + resource + `", "tool": "x", "arguments": {}}`}
	}
	other := block("shell")
	other.Language = "json"
	for _, tt := range []struct {
		operation string
		block     domarkx.Block
		want      bool
	}{
		{"import", block("shell"), true},
		{"import", block("files"), false},
		{"import", domarkx.Block{Type: domarkx.CodeBlock, Language: "tool-call", Text: "{"}, false},
		{"import", other, false},
		{"call", block("shell"), false},
		{"", block("shell"), false},
	} {
		if got := made(tt.operation)(tt.block); got != tt.want {
			t.Errorf("after %q, %s of %q: %t", tt.operation, tt.block.Text, tt.block.Language, got)
		}
	}
	if _, err := c.MadeElsewhere(t.Context(), strings.Repeat("1", 40)); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("a version that does not exist: %v", err)
	}
}
