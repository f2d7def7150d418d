package importer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

// imports imports documents, and returns the result.
func (c *clone) imports(r importer.Request) importer.Result {
	c.T.Helper()
	result, err := c.Import(c.T.Context(), r)
	if err != nil {
		c.T.Fatal(err)
	}
	return result
}

// TestGivenNames: a name that the user gives is taken, or the import says why not.
func TestGivenNames(t *testing.T) {
	c := newClone(t)
	c.ImportFile(c.WriteFile("taken.md", hi))
	other := c.WriteFile("other.md", "## user\n\nAnother.\n")
	for name, want := range map[string]string{
		"taken":     "it came from another source, so give another name with --as",
		"taken/sub": "give another name with --as",
		"TAKEN":     "give another name with --as",
	} {
		result, err := c.Import(t.Context(), importer.Request{Paths: []string{other}, As: name})
		if err := errors.Join(append(result.Bad, err)...); !errors.Is(err, domarkx.ErrExists) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	if got := names(c.imports(importer.Request{Paths: []string{other}, As: "mine"})); !cmp.Equal(got, []string{"mine"}) {
		t.Errorf("imported as %q", got)
	}
	c.WriteFile("other.md", "## user\n\nAnother.\n\n## assistant\n\nMore.\n")
	if got := names(c.imports(importer.Request{Paths: []string{other}, As: "mine"})); !cmp.Equal(got, []string{"mine"}) || !strings.Contains(c.Shown("mine"), "More.") {
		t.Errorf("imported again as %q", got)
	}
	if got := names(c.imports(importer.Request{Paths: []string{other}, As: "too"})); !cmp.Equal(got, []string{"too"}) {
		t.Errorf("with a second name, imported as %q", got)
	}
	if got := c.sessions(); !cmp.Equal(got, []string{"mine", "taken", "too"}) {
		t.Errorf("sessions %q", got)
	}
}

// TestDerivedNames: a name that clashes gets a number, also where it is a directory of other names.
func TestDerivedNames(t *testing.T) {
	c := newClone(t)
	for _, test := range []struct{ file, want string }{
		{"a.md", "a"}, {"x/a.md", "a-2"}, {"a/b.md", "b"}, {"y/A.md", "A-2"}, {"x/.md", "_"}, {"-x.md", "x"}, {"a b~c.md", "a-b-c"}, {"é.md", "é"},
	} {
		path := c.WriteFile(test.file, "## user\n\nFrom "+test.file+"\n")
		got := names(c.imports(importer.Request{Paths: []string{path}}))
		if len(got) != 1 {
			t.Errorf("%s: imported as %q", test.file, got)
			continue
		}
		if text := c.Shown(got[0]); !strings.Contains(text, "From "+test.file) {
			t.Errorf("%s is imported as %q, which is\n%s", test.file, got[0], text)
		}
		if again := names(c.imports(importer.Request{Paths: []string{path}})); !cmp.Equal(again, got) {
			t.Errorf("%s is imported as %q, and then as %q", test.file, got, again)
		}
	}
	if n := len(c.sessions()); n != 8 {
		t.Errorf("%d sessions: %q", n, c.sessions())
	}
	c.Fsck()
}

// chatter returns a document of agent-chatter.
func chatter(updated string, texts ...string) string {
	var messages []string
	for i, text := range texts {
		messages = append(messages, fmt.Sprintf(`{"id": "m%d", "timestamp": "2024-01-01T00:00:0%dZ", "speaker": {"id": "h", "name": "h", "displayName": "H", "type": "human"}, "content": %q}`, i, i, text))
	}
	return fmt.Sprintf(`{"schemaVersion": "1.0", "teamId": "t", "teamName": "T", "sessionId": "s", "createdAt": "2024-01-01T00:00:00Z", "updatedAt": %q, "context": {"messages": [%s]}}`, updated, strings.Join(messages, ", "))
}

// TestOlderSaves: an older save of a session does not replace a newer one, in whichever order and file they come.
func TestOlderSaves(t *testing.T) {
	c := newClone(t)
	old := c.WriteFile("old.json", chatter("2024-01-01T00:00:00Z", "one"))
	current := c.WriteFile("new.json", chatter("2024-01-02T00:00:00Z", "one", "two"))
	first := c.imports(importer.Request{Paths: []string{current}})
	if len(first.Sessions) != 1 || len(first.Bad) > 0 {
		t.Fatalf("imported %q, %v", names(first), first.Bad)
	}
	name := first.Sessions[0].Name
	late := c.imports(importer.Request{Paths: []string{old}})
	if len(late.Warnings) != 1 || !strings.Contains(late.Warnings[0].Error(), `old.json: older than the version that session "`+name+`" was last imported from`) {
		t.Errorf("warnings %v", late.Warnings)
	}
	if text := c.Shown(name); !strings.Contains(text, "two") {
		t.Errorf("the older save replaced the newer one:\n%s", text)
	}
	if again := c.imports(importer.Request{Paths: []string{old}}); len(again.Warnings) > 0 {
		t.Errorf("warns again: %v", again.Warnings)
	}
	both := newClone(t)
	paths := []string{both.WriteFile("new.json", chatter("2024-01-02T00:00:00Z", "one", "two")), both.WriteFile("old.json", chatter("2024-01-01T00:00:00Z", "one"))}
	result := both.imports(importer.Request{Paths: []string{both.Dir}})
	warned := slices.ContainsFunc(result.Warnings, func(err error) bool { return strings.Contains(err.Error(), "older than") })
	if got := both.sessions(); len(got) != 1 || warned {
		t.Fatalf("%q of %q, warnings %v", got, paths, result.Warnings)
	}
	if text := both.Shown(name); !strings.Contains(text, "two") {
		t.Errorf("both together are\n%s", text)
	}
}

// TestSubAgents: a sub-agent's session is named after the one that started it, in whichever order they are read.
func TestSubAgents(t *testing.T) {
	parent := `{"type":"user","parentUuid":null,"isSidechain":false,"sessionId":"p","uuid":"u1","timestamp":"2026-03-01T10:00:00Z","message":{"role":"user","content":"Main"}}` + "\n"
	child := `{"type":"user","parentUuid":null,"isSidechain":true,"agentId":"abcdef0123456789","sessionId":"p","uuid":"u2","timestamp":"2026-03-01T10:00:01Z","message":{"role":"user","content":"Sub"}}` + "\n"
	want := []string{"claude-code/2026-03-01-main", "claude-code/2026-03-01-main.agent-23456789"}
	for name, order := range map[string][]string{"the parent first": {"p.jsonl", "c.jsonl"}, "the parent last": {"c.jsonl", "p.jsonl"}} {
		c := newClone(t)
		files := map[string]string{"p.jsonl": c.WriteFile("p.jsonl", parent), "c.jsonl": c.WriteFile("c.jsonl", child)}
		result := c.imports(importer.Request{Paths: []string{files[order[0]], files[order[1]]}})
		if diff := cmp.Diff(want, names(result)); diff != "" || len(result.Bad) > 0 {
			t.Errorf("%s: bad %v (-want +got):\n%s", name, result.Bad, diff)
		}
	}
	c := newClone(t)
	alone := c.imports(importer.Request{Paths: []string{c.WriteFile("c.jsonl", child)}})
	if diff := cmp.Diff([]string{"claude-code/2026-03-01-sub"}, names(alone)); diff != "" {
		t.Errorf("without its parent (-want +got):\n%s", diff)
	}
	c.imports(importer.Request{Paths: []string{c.WriteFile("p.jsonl", parent)}})
	c.WriteFile("c.jsonl", child+strings.Replace(strings.Replace(child, "u2", "u3", 1), "Sub", "More", 1))
	grown := c.imports(importer.Request{Paths: []string{c.Dir + "/c.jsonl"}})
	if diff := cmp.Diff(names(alone), names(grown)); diff != "" {
		t.Errorf("when its parent is there, it keeps its name (-want +got):\n%s", diff)
	}
}

// TestLinkRequests: versions that a document states become links if the user asks for it, and they exist.
func TestLinkRequests(t *testing.T) {
	c := newClone(t)
	v := c.Committed("ws", enginetest.WorkTree, map[string]string{"a": "one"}, domarkx.VersionCommit{})
	missing := strings.Repeat("1", 40)
	document := fmt.Sprintf("## user\n```json msg-metadata\n{\"workspace_version\": %q}\n```\n\nHi\n\n## assistant\n```json msg-metadata\n{\"workspace_version\": %q}\n```\n\nHello\n", v.ID, missing)
	links := func(r importer.Request, name string) (found []string, warnings int) {
		t.Helper()
		r.Paths = []string{c.WriteFile(name+".md", document)}
		result := c.imports(r)
		if len(result.Bad) > 0 {
			t.Fatal(result.Bad)
		}
		for e, err := range c.MessagesBackward(t.Context(), c.Tip(name)) {
			if err != nil {
				t.Fatal(err)
			}
			found = append([]string{e.Link}, found...)
		}
		return found, len(result.Warnings)
	}
	if got, n := links(importer.Request{}, "none"); !cmp.Equal(got, []string{"", ""}) || n != 0 {
		t.Errorf("nobody asked: %q, %d warnings", got, n)
	}
	if got, n := links(importer.Request{LinksOf: "ws"}, "named"); !cmp.Equal(got, []string{v.ID, ""}) || n != 1 {
		t.Errorf("of a workspace: %q, %d warnings", got, n)
	}
	if got, n := links(importer.Request{Links: true}, "own"); !cmp.Equal(got, []string{"", ""}) || n != 2 {
		t.Errorf("of its own workspace, which it has not: %q, %d warnings", got, n)
	}
	if _, err := c.Import(t.Context(), importer.Request{Paths: []string{c.Dir + "/own.md"}, LinksOf: "none"}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("of a workspace that does not exist: %v", err)
	}
	if text := c.Shown("named"); text != document {
		t.Errorf("linked, it is shown as\n%s", text)
	}
	c.Fsck()
}
