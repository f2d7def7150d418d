package engine_test

import (
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// inConflict returns a clone with a session whose only message is in conflict between two texts.
func inConflict(t *testing.T, first, second string) *clone {
	t.Helper()
	c := newClone(t)
	base := c.ImportFile(c.WriteFile("a.md", "## user\n\none\n"))
	c.Saved("a", base.ID, first)
	c.Saved("a", base.ID, second)
	return c
}

// If one text of a conflict is edited, the session reads back exactly as saved, including the
// conflict markers.
func TestAConflictSettledInPartReadsBackAsSaved(t *testing.T) {
	c := inConflict(t, "## user\n\nthis\n", "## user\n\nthat, and words\n\n* * *\n")
	shown := c.Shown("a")
	if strings.Count(shown, `"conflict"`) != 2 {
		t.Fatalf("no conflict: %s", shown)
	}
	for _, edit := range []func(string) string{
		func(s string) string { return strings.Replace(s, "this", "THIS", 1) },
		func(s string) string { return strings.Replace(s, "that", "THAT", 1) },
		func(s string) string { return s + "\n## assistant\n\nmore\n" },
	} {
		tip, edited := c.Tip("a"), edit(c.Shown("a"))
		c.Saved("a", tip.ID, edited)
		if got := c.Shown("a"); got != edited {
			t.Errorf("saved %q, got %q", edited, got)
		}
		c.Fsck()
		if _, err := c.Rewind(t.Context(), engine.Revision{Name: "a", ID: tip.ID, Message: -1}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestARewindToAConflictOfHeadersShowsBoth(t *testing.T) {
	c := inConflict(t, "---\ntitle: this\n---\n\n## user\n\none\n", "---\ntitle: that # why\n---\n\n## user\n\none\n")
	shown, tip := c.Shown("a"), c.Tip("a")
	if !strings.Contains(shown, "this") || !strings.Contains(shown, "that") {
		t.Fatalf("a title is lost: %s", shown)
	}
	c.Saved("a", tip.ID, "---\ntitle: both\n---\n\n## user\n\none\n")
	if got := c.Shown("a"); got != "---\ntitle: both\n---\n\n## user\n\none\n" {
		t.Errorf("settled to %q", got)
	}
	if _, err := c.Rewind(t.Context(), engine.Revision{Name: "a", ID: tip.ID, Message: -1}); err != nil {
		t.Fatal(err)
	}
	if got := c.Shown("a"); got != shown {
		t.Errorf("rewound to %q, want %q", got, shown)
	}
	c.Fsck()
}
