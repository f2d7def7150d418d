package importer_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/importer"
)

// A new session with the name that a file's earlier session had is a different session.
func TestImportLeavesANewSessionOfThatNameAlone(t *testing.T) {
	c := newClone(t)
	path := c.WriteFile("a.md", "## user\n\none\n")
	c.ImportFile(path)
	if _, err := c.Remove(t.Context(), "a", nil); err != nil {
		t.Fatal(err)
	}
	c.Appended("a", "something else")
	if saved := c.ImportFile(path); saved.Name != "a-2" || saved.Merged {
		t.Errorf("imported as %+v", saved)
	}
	if got := c.Shown("a"); got != "## user\n\nsomething else\n" {
		t.Errorf("the session of that name is %q now", got)
	}
}

// Two imports have the same source only if the file is at the same path in the work tree. Paths
// relative to other directories and statements in the documents do not count.
func TestImportTellsSourcesOfOneNameApart(t *testing.T) {
	c := newClone(t)
	outside := t.TempDir()
	for _, directory := range []string{"x", "y"} {
		dir := filepath.Join(outside, directory)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		if err := os.WriteFile("a.md", []byte("## user\n\nin "+directory+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		c.ImportFile("a.md")
	}
	if first, second := c.Shown("a"), c.Shown("a-2"); first != "## user\n\nin x\n" || second != "## user\n\nin y\n" {
		t.Errorf("imported as %q and %q", first, second)
	}
	c.ImportFile(c.WriteFile("s.md", "## user\n\none\n"))
	if again := c.ImportFile(c.WriteFile("s.json", c.ShownIn("s", engine.JSON))); again.Name != "s-2" {
		t.Errorf("the snapshot of s, imported, became %q", again.Name)
	}
	if again := c.ImportFile(c.WriteFile("sub/s.md", c.Shown("s-2"))); again.Name != "s-3" {
		t.Errorf("the text of s-2, imported, became %q", again.Name)
	}
}

// Without the records on this machine, importing a file of the work tree continues the session
// that came from it, as in another clone.
func TestImportGoesOnFromTheSamePlaceInTheWorkTree(t *testing.T) {
	c := newClone(t)
	path := c.WriteFile("notes/a.md", "## user\n\none\n")
	c.ImportFile(path)
	if err := os.RemoveAll(filepath.Join(c.Dir, ".git", "domarkx", "sources")); err != nil {
		t.Fatal(err)
	}
	c.WriteFile("notes/a.md", "## user\n\none\n\n## user\n\ntwo\n")
	if saved := c.ImportFile(path); saved.Name != "a" || saved.Messages != 2 {
		t.Errorf("imported as %+v", saved)
	}
}

// Documents nested too deeply to be read again are rejected, or reported as damage if the nested
// part can be omitted. They do not prevent other imports.
func TestImportRefusesWhatIsNestedTooDeep(t *testing.T) {
	c := newClone(t)
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	c.WriteFile("in/good.md", "## user\n\nhello\n")
	c.WriteFile("in/message.jsonl", piHeader+piEntry("1", "", "user", "x")+`{"type":"message","id":"2","parentId":"1","timestamp":"2026-02-18T05:00:01Z","message":{"role":"user","content":"y","x":`+deep(1000)+"}}\n")
	c.WriteFile("in/header.json", strings.Replace(pinnedChatter(1), `"teamTask":null`, `"teamTask":`+deep(998), 1))
	result, err := c.Import(t.Context(), importer.Request{Paths: []string{filepath.Join(c.Dir, "in")}})
	if err != nil || len(result.Sessions) != 2 || result.Sessions[0].Name != "good" || len(result.Bad) != 1 || len(result.Warnings) != 1 {
		t.Fatalf("imported %v, %v; %v; %v", result.Sessions, result.Bad, result.Warnings, err)
	}
	for _, said := range []error{result.Bad[0], result.Warnings[0]} {
		if !strings.Contains(said.Error(), "nested deeper than") {
			t.Error(said)
		}
	}
}
