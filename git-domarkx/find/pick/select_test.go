package pick_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
	"github.com/domarkx/domarkx/git-domarkx/find/pick"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

func picker(c *enginetest.Clone) pick.Picker {
	return pick.Picker{Sessions: c.SessionManager, Store: c.Store}
}

func TestSelect(t *testing.T) {
	c := enginetest.New(t)
	for name, front := range map[string]string{
		"docs/a":   "tags: [fix, slow]",
		"docs/b":   "tags: fix, later",
		"notes":    "agent: codex\ngit_branches: [main, fix/login]",
		"notes-2":  "agent: 7\ntags: {fix: true}",
		"untagged": "title: Tags are fix and slow",
	} {
		c.Saved(name, "", "---\n"+front+"\n---\n\n## user\n\nHello.\n"+strings.Repeat("\n## user\n\nMore.\n", len(name)))
	}
	tests := []struct {
		name string
		o    pick.Options
		want string
	}{
		{"all", pick.Options{}, "docs/a docs/b notes notes-2 untagged"},
		{"a name", pick.Options{Patterns: []string{"notes"}}, "notes"},
		{"a directory", pick.Options{Patterns: []string{"docs"}}, "docs/a docs/b"},
		{"a directory with a slash", pick.Options{Patterns: []string{"docs/"}}, "docs/a docs/b"},
		{"a glob", pick.Options{Patterns: []string{"no*"}}, "notes notes-2"},
		{"a glob crosses directories", pick.Options{Patterns: []string{"*b", "n*s"}}, "docs/b notes"},
		{"several", pick.Options{Patterns: []string{"docs/b", "unt*", "none"}}, "docs/b untagged"},
		{"a tag", pick.Options{Tag: "fix"}, "docs/a docs/b"},
		{"a part of a tag", pick.Options{Tag: "slo"}, ""},
		{"a tag in a text", pick.Options{Tag: "later"}, "docs/b"},
		{"a branch", pick.Options{Branch: "fix/login"}, "notes"},
		{"an agent", pick.Options{Agent: "codex"}, "notes"},
		{"both", pick.Options{Agent: "codex", Tag: "fix"}, ""},
		{"the most messages first", pick.Options{Sort: "messages"}, "untagged notes-2 docs/a docs/b notes"},
		{"limited", pick.Options{Sort: "messages", Limit: 2}, "untagged notes-2"},
	}
	list, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		got, err := picker(c).Select(t.Context(), list, tt.o)
		if err != nil || got == nil {
			t.Errorf("%s: %v, %v", tt.name, got, err)
		}
		if names := namesOf(got); names != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, names, tt.want)
		}
	}
	if got, err := picker(c).Select(t.Context(), list, pick.Options{Patterns: []string{"[a"}}); got != nil || !errors.Is(err, domarkx.ErrInvalid) {
		t.Errorf("an invalid pattern: %v, %v", got, err)
	}
}

func namesOf(list []domarkx.Info) string {
	names := make([]string, len(list))
	for i, info := range list {
		names[i] = info.Name
	}
	return strings.Join(names, " ")
}

// TestSelectWithDamage removes the front matter of one session. The others are still found by theirs.
func TestSelectWithDamage(t *testing.T) {
	c := enginetest.New(t)
	text := func(name string) string { return "---\ntags: [fix]\nname: " + name + "\n---\n\n## user\n\nHello.\n" }
	broken := c.Saved("a", "", text("a"))
	c.Saved("b", "", text("b"))
	headers, err := c.Store.Header(t.Context(), broken.ID)
	if err != nil {
		t.Fatal(err)
	}
	id := headers[0].JSON.ID
	c.Unpack()
	if err := os.Remove(filepath.Join(c.Dir, ".git", "objects", id[:2], id[2:])); err != nil {
		t.Fatal(err)
	}
	c = enginetest.Open(t, c.Dir, c.Settings)
	list, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := picker(c).Select(t.Context(), list, pick.Options{Tag: "fix"})
	if namesOf(got) != "b" || !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("got %q, %v; want b, and an error that names a", namesOf(got), err)
	}
}

// TestFullName checks which session a part of a name means.
func TestFullName(t *testing.T) {
	c := enginetest.New(t)
	for _, name := range []string{"a/one", "a/two", "b/one-more", "one"} {
		c.Appended(name, "Hello.")
	}
	for part, want := range map[string]string{"one": "one", "a/two": "a/two", "tw": "a/two", "more": "b/one-more", "none": "none", "": "", "ONE": "ONE", "@1": "one", "@4": "a/one",
		"on": "on fits", "a/": "a/ fits", "@5": "@5 fits", "@0": "@0", "@": "@", "@+1": "@+1"} {
		got, err := picker(c).FullName(t.Context(), part)
		if _, fails := strings.CutSuffix(want, " fits"); fails != (err != nil) || !fails && got != want {
			t.Errorf("%q is %q, %v; want %q", part, got, err, want)
		}
	}
}

// TestWholeNameNeedsNoList checks that a complete name is found without reading the list of all sessions.
func TestWholeNameNeedsNoList(t *testing.T) {
	c := enginetest.New(t)
	c.Appended("one", "Hello.")
	if _, err := c.Store.Refs(); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(c.Dir, ".git/packed-refs"), 0o777); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Store.Refs(); err == nil {
		t.Error("a list can still be read")
	}
	if got, err := picker(c).FullName(t.Context(), "one"); got != "one" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

// TestImportedFrom says which sessions are from a program.
func TestImportedFrom(t *testing.T) {
	clone := enginetest.New(t)
	clone.ImportOne(importer.Request{As: "s", Paths: []string{clone.WriteFile("a.jsonl", `{"parentUuid":null,"isSidechain":false,"type":"user","uuid":"u1","sessionId":"5e55","cwd":"/w","timestamp":"2026-03-01T10:00:01.000Z","message":{"role":"user","content":"Hello"}}`+"\n")}})
	clone.Appended("own", "Hello.")
	c := picker(clone)
	from, err := c.ImportedFrom(t.Context(), "claude-code")
	if err != nil || len(from) != 1 || from[0].Name != "s" {
		t.Errorf("imported from it: %v, %v", from, err)
	}
	if from, err := c.ImportedFrom(t.Context(), "codex"); err != nil || from != nil {
		t.Errorf("imported from another program: %v, %v", from, err)
	}
}
