package importer_test

import (
	"strings"
	"testing"
)

// Messages inside an include stay inside it, even if the text after the include closes a fence
// that was left open before it.
func TestAnEditBesideAnIncludeThatWasLeftOpen(t *testing.T) {
	c := newClone(t)
	c.WriteFile("part.md", "intro\n\n## assistant\n\nA\n")
	c.ImportFile(c.WriteFile("a.md", "## user\n\none\n\n## user\n\n[include](part.md)\n\n```sh\nls"))
	c.Appended("a", "more")
	edited := strings.Replace(c.Shown("a"), "one", "ONE", 1)
	c.Saved("a", c.Tip("a").ID, edited)
	if got := c.Shown("a"); got != edited {
		t.Errorf("saved %q, got %q", edited, got)
	}
	c.Fsck()
}
