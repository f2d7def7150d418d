package turns_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/find/compare"
)

func (c *clone) write1(name, text string) {
	c.T.Helper()
	if _, err := c.Exec(c.T.Context(), turns.ExecRequest{Name: name, Resource: "notes", Tool: "write", Pairs: []string{"name=a", "text=" + text}}); err != nil {
		c.T.Fatal(err)
	}
}

func TestRenameTakesTheWorkspaceAlong(t *testing.T) {
	c := ranThree(t)
	c.put("s", "mine", "x")
	if _, err := c.Rename(t.Context(), "s", "deep/er"); err != nil {
		t.Fatal(err)
	}
	c.expect("deep/er", "a=2 b=2 c=3 mine=x")
	if _, err := c.ResolveVersion(t.Context(), engine.Revision{Name: "s", Message: -1}); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("the workspace has its old name: %v", err)
	}
	if _, err := c.WorkspacePaths(t.Context(), "s", ""); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("the instance has its old name: %v", err)
	}
	c.write1("deep/er", "on")
	c.expect("deep/er", "a=on b=2 c=3 mine=x")
	c.Fsck()
}

func TestARenameThatWasKilledIsFinished(t *testing.T) {
	c := ranThree(t)
	if _, err := c.Rename(t.Context(), "s", "u"); err != nil {
		t.Fatal(err)
	}
	if err := c.Env.Workspaces.Rename(t.Context(), "u", "s"); err != nil { // as if the process was killed before this
		t.Fatal(err)
	}
	c.put("s", "mine", "x")
	c.write1("u", "on")
	c.expect("u", "a=on b=2 c=3 mine=x")
	if _, err := c.WorkspacePaths(t.Context(), "s", ""); err == nil {
		t.Error("the instance has both names")
	}
}

func TestARefusedRenameLeavesAllAsItWas(t *testing.T) {
	c := ranThree(t)
	c.Trusted("t", enginetest.NotesConfig+"\n## user\n\nhi\n")
	c.Trusted("v", enginetest.NotesConfig+"\n## user\n\nho\n")
	for session, workspace := range map[string]string{"t": "s", "v": "s"} {
		if err := c.AttachWorkspace(t.Context(), session, workspace); err != nil {
			t.Fatal(err)
		}
	}
	before := maps.Clone(c.Settings.Values)
	for _, to := range []string{"t", "v", "bad name"} {
		if _, err := c.Rename(t.Context(), "s", to); err == nil {
			t.Errorf("renamed to %q", to)
		}
	}
	if _, err := c.Rename(t.Context(), "t", "v"); err == nil {
		t.Error("renamed over a session")
	}
	if !maps.EqualFunc(before, c.Settings.Values, slices.Equal) {
		t.Errorf("settings are %v, were %v", c.Settings.Values, before)
	}
	c.write1("t", "on")
	c.expect("s", "a=on b=2 c=3")
}

func TestRemovedWorkspacesComeBack(t *testing.T) {
	c := ranThree(t)
	c.put("s", "mine", "x")
	if _, err := c.Remove(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	if list, err := c.Store.Workspaces(t.Context()); err != nil || len(list) > 0 {
		t.Fatal(list, err)
	}
	if instances, err := c.Env.Workspaces.Instances(t.Context()); err != nil || len(instances) > 0 {
		t.Fatal(instances, err)
	}
	if _, err := c.Restore(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	c.write1("s", "again")
	c.expect("s", "a=again b=2 c=3 mine=x")
	c.Fsck()
}

func TestAWorkspaceIsRemovedAlone(t *testing.T) {
	c := ranThree(t)
	c.put("s", "mine", "x")
	link := c.link("s", 4)
	if _, err := c.RemoveWorkspace(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.WorkspacePaths(t.Context(), "s", ""); err == nil {
		t.Error("it is live")
	}
	v, err := c.VersionAt(t.Context(), engine.Revision{Name: "s", Message: -1})
	if err != nil || v.ID != link {
		t.Errorf("the link is gone: %v %v", v, err)
	}
	if _, err := c.Restore(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	c.write1("s", "again")
	c.expect("s", "a=again b=2 c=3 mine=x")
	if _, err := c.Restore(t.Context(), "s"); !errors.Is(err, domarkx.ErrExists) {
		t.Errorf("restored what is there: %v", err)
	}
	c.Fsck()
}

func TestAttachedSessionsShareAWorkspace(t *testing.T) {
	c := ranThree(t)
	c.Trusted("t", enginetest.NotesConfig+"\n## user\n\nhi\n")
	if err := c.AttachWorkspace(t.Context(), "t", "nothing"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("attached to nothing: %v", err)
	}
	if err := c.AttachWorkspace(t.Context(), "t", "s"); err != nil {
		t.Fatal(err)
	}
	c.write1("t", "shared")
	c.expect("s", "a=shared b=2 c=3")
	if _, err := c.ResolveVersion(t.Context(), engine.Revision{Name: "t", Message: -1}); err == nil || !strings.Contains(err.Error(), `"s"`) {
		t.Errorf("%v, want an error that names the workspace", err)
	}
	if _, err := c.Rename(t.Context(), "s", "u"); err != nil {
		t.Fatal(err)
	}
	c.write1("t", "renamed")
	c.expect("u", "a=renamed b=2 c=3")
	if _, err := c.Rename(t.Context(), "t", "v"); err != nil {
		t.Fatal(err)
	}
	c.write1("v", "both")
	c.expect("u", "a=both b=2 c=3")
	if _, err := c.Remove(t.Context(), "u", nil); err != nil { // others work in it
		t.Fatal(err)
	}
	c.write1("v", "alone")
	c.expect("u", "a=alone b=2 c=3")
	if err := c.AttachWorkspace(t.Context(), "v", "v"); err != nil {
		t.Fatal(err)
	}
	c.write1("v", "own")
	c.expect("v", "a=own")
	c.Fsck()
}

// versionDiff returns the diff between two versions.
func (c *clone) versionDiff(a, b string) string {
	c.T.Helper()
	var sides [2]domarkx.Version
	for i, name := range []string{a, b} {
		r, err := engine.ParseRevision(name)
		if err != nil {
			c.T.Fatal(err)
		}
		if sides[i], err = c.ResolveVersion(context.Background(), r); err != nil {
			c.T.Fatal(err)
		}
	}
	var text strings.Builder
	if err := compare.Versions(c.T.Context(), c.Store, sides[0], sides[1], func(part []byte) error { text.Write(part); return nil }); err != nil {
		c.T.Fatal(err)
	}
	return text.String()
}

func TestDiffOfVersions(t *testing.T) {
	c := ranThree(t)
	want := `diff --git a/notes/a b/notes/a
--- a/notes/a
+++ b/notes/a
@@ -1,1 +1,1 @@
-1
\ No newline at end of file
+2
\ No newline at end of file
diff --git a/notes/b b/notes/b
new file mode 100644
--- /dev/null
+++ b/notes/b
@@ -0,0 +1,1 @@
+2
\ No newline at end of file
`
	if got := c.versionDiff("s#1", "s#3"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := c.versionDiff("s~1", "s~1"); got != "" {
		t.Errorf("the same differs: %s", got)
	}
	c.put("s", "bin", "\x00\x01")
	c.put("s", "odd \"name\"\n", "x\n")
	c.write1("s", "2")
	got := c.versionDiff("s~1", "s")
	for _, part := range []string{"Binary files /dev/null and b/notes/bin differ\n", `+++ "b/notes/odd \"name\"\n"` + "\n"} {
		if !strings.Contains(c.versionDiff("s~2", "s")+got, part) {
			t.Errorf("no %q in\n%s", part, got)
		}
	}
}
