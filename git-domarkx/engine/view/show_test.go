package view_test

import (
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// A message is shown as its author wrote it, including metadata.
func TestAMessageIsShownAsWritten(t *testing.T) {
	c := newClone(t)
	const first, second = "## User\n```json msg-metadata\n{\"a\":1}\n```\n> hi\n", "## assistant\n\ncanonical\n"
	c.ImportFile(c.WriteFile("a.md", first+"\n"+second))
	for revision, want := range map[string]string{"a#0": first, "a#1": second} {
		if got := c.ShownIn(revision, engine.Markdown); got != want {
			t.Errorf("%s is shown as %q, want %q", revision, got, want)
		}
	}
}
