package engine_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

func TestSelect(t *testing.T) {
	c := newClone(t)
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
		o    engine.ListOptions
		want string
	}{
		{"all", engine.ListOptions{}, "docs/a docs/b notes notes-2 untagged"},
		{"a name", engine.ListOptions{Patterns: []string{"notes"}}, "notes"},
		{"a directory", engine.ListOptions{Patterns: []string{"docs"}}, "docs/a docs/b"},
		{"a directory with a slash", engine.ListOptions{Patterns: []string{"docs/"}}, "docs/a docs/b"},
		{"a glob", engine.ListOptions{Patterns: []string{"no*"}}, "notes notes-2"},
		{"a glob crosses directories", engine.ListOptions{Patterns: []string{"*b", "n*s"}}, "docs/b notes"},
		{"several", engine.ListOptions{Patterns: []string{"docs/b", "unt*", "none"}}, "docs/b untagged"},
		{"a tag", engine.ListOptions{Tag: "fix"}, "docs/a docs/b"},
		{"a part of a tag", engine.ListOptions{Tag: "slo"}, ""},
		{"a tag in a text", engine.ListOptions{Tag: "later"}, "docs/b"},
		{"a branch", engine.ListOptions{Branch: "fix/login"}, "notes"},
		{"an agent", engine.ListOptions{Agent: "codex"}, "notes"},
		{"both", engine.ListOptions{Agent: "codex", Tag: "fix"}, ""},
		{"the most messages first", engine.ListOptions{Sort: "messages"}, "untagged notes-2 docs/a docs/b notes"},
		{"limited", engine.ListOptions{Sort: "messages", Limit: 2}, "untagged notes-2"},
	}
	list, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		got, err := c.Select(t.Context(), list, tt.o)
		if err != nil || got == nil {
			t.Errorf("%s: %v, %v", tt.name, got, err)
		}
		if names := namesOf(got); names != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, names, tt.want)
		}
	}
	if got, err := c.Select(t.Context(), list, engine.ListOptions{Patterns: []string{"[a"}}); got != nil || !errors.Is(err, domarkx.ErrInvalid) {
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
	c := newClone(t)
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
	c = openClone(t, c.Dir, c.Settings)
	list, err := c.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Select(t.Context(), list, engine.ListOptions{Tag: "fix"})
	if namesOf(got) != "b" || !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), `"a"`) {
		t.Errorf("got %q, %v; want b, and an error that names a", namesOf(got), err)
	}
}
