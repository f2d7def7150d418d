package engine_test

import (
	"strings"
	"testing"
)

const withOwn = "---\ntitle: T # why\n---\n\n```json domarkx-snapshot\n" +
	`{"snapshot_id": "x", "metadata": {"import_timestamp": "2025-11-14T10:45:00Z"}}` + "\n```\n\n## user\n\none\n"

// A snapshot_id belongs to the imported snapshot, and the preamble that contains it belongs to
// its author.
func TestLaterSnapshotsHaveAnIDOfTheirOwn(t *testing.T) {
	for name, change := range map[string]func(c *clone) string{
		"append": func(c *clone) string {
			c.Appended("a", "two")
			return withOwn + "\n## user\n\ntwo\n"
		},
		"edit": func(c *clone) string {
			edited := strings.Replace(withOwn, "one", "ONE", 1)
			c.Saved("a", c.Tip("a").ID, edited)
			return edited
		},
		"edit of the front matter": func(c *clone) string {
			edited := strings.Replace(withOwn, "title: T", "title: U", 1)
			c.Saved("a", c.Tip("a").ID, edited)
			return edited
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.ImportFile(c.WriteFile("a.md", withOwn))
			if got := c.ShownIn("a", "json"); !strings.Contains(got, `"snapshot_id": "x"`) {
				t.Errorf("imported as %s", got)
			}
			want := change(c)
			if got := c.Shown("a"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if got := c.ShownIn("a", "json"); strings.Contains(got, `"snapshot_id": "x"`) || strings.Contains(got, "2025-11-14") {
				t.Errorf("a later snapshot has the id of an earlier one: %s", got)
			}
			if again := c.Saved("a", c.Tip("a").ID, want); again.Changed {
				t.Error("saving it unchanged made a snapshot")
			}
			c.Fsck()
		})
	}
}

func TestAnEditOfAnImportedSnapshotKeepsItsBytes(t *testing.T) {
	c := newClone(t)
	c.ImportFile(c.WriteFile("s.json", `{"version":"1.0","snapshot_id":"x","metadata":{"import_timestamp":"2025-11-14T10:45:00Z"},`+
		`"execution_config":{},"conversation":[{"role":"user","content":[{"type":"text","value":"one"}]}]}`))
	edited := strings.Replace(c.Shown("s"), "one", "ONE", 1)
	c.Saved("s", c.Tip("s").ID, edited)
	if got := c.Shown("s"); got != edited {
		t.Errorf("saved %q, got %q", edited, got)
	}
	if got := c.ShownIn("s", "json"); strings.Contains(got, `"snapshot_id": "x"`) {
		t.Errorf("the edit has the id of what was imported: %s", got)
	}
	c.Appended("s", "two")
	if got := c.Shown("s"); !strings.HasPrefix(got, edited) {
		t.Errorf("appended to %q, got %q", edited, got)
	}
	c.Fsck()
}

// A preamble that contains only the id is removed together with the blank line after it.
func TestTheSizeWithoutTheOwnIDIsRight(t *testing.T) {
	c := newClone(t)
	c.ImportFile(c.WriteFile("s.json", `{"version":"1.0","snapshot_id":"x","metadata":{"import_timestamp":"2025-11-14T10:45:00Z"},`+
		`"execution_config":{},"conversation":[{"role":"user","content":[{"type":"text","value":"one"}]}]}`))
	c.Appended("s", "two")
	if got, want := c.Shown("s"), "## user\n\none\n\n## user\n\ntwo\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c.Fsck()
}
