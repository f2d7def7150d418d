package engine_test

import "testing"

// A session that has nothing but the name of what a file once became is another
// one.
func TestImportLeavesANewSessionOfThatNameAlone(t *testing.T) {
	c := newClone(t)
	path := c.write("a.md", "## user\n\none\n")
	c.importFile(path)
	if _, err := c.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	c.append("a", "something else")
	if saved := c.importFile(path); saved.Name != "a-2" || saved.Merged {
		t.Errorf("imported as %+v", saved)
	}
	if got := c.show("a"); got != "## user\n\nsomething else\n" {
		t.Errorf("the session of that name is %q now", got)
	}
}
