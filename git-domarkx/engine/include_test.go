package engine_test

import (
	"strings"
	"testing"
)

// Messages inside an include stay inside it, even if the text after the include closes a fence
// that was left open before it.
func TestAnEditBesideAnIncludeThatWasLeftOpen(t *testing.T) {
	c := newClone(t)
	c.write("part.md", "intro\n\n## assistant\n\nA\n")
	c.importFile(c.write("a.md", "## user\n\none\n\n## user\n\n[include](part.md)\n\n```sh\nls"))
	c.append("a", "more")
	edited := strings.Replace(c.show("a"), "one", "ONE", 1)
	c.save("a", c.tip("a").ID, edited)
	if got := c.show("a"); got != edited {
		t.Errorf("saved %q, got %q", edited, got)
	}
	c.fsck()
}
