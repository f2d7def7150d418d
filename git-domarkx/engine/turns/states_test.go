package turns_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
)

// states returns the states of workspaces and sessions as "state name".
func (c *clone) states() []string {
	c.T.Helper()
	all, err := c.WorkspaceStates(c.T.Context())
	if err != nil {
		c.T.Fatal(err)
	}
	list := []string{}
	for _, s := range all {
		list = append(list, s.State+" "+s.Name)
	}
	return list
}

// findings returns the severity and the place of what needs attention.
func (c *clone) findings() []string {
	c.T.Helper()
	all, err := c.WorkspaceFindings(c.T.Context())
	if err != nil {
		c.T.Fatal(err)
	}
	list := []string{}
	for _, f := range all {
		if f.Fix == "" {
			c.T.Errorf("nothing can be done about %+v", f)
		}
		list = append(list, f.Severity+" "+f.Where)
	}
	return list
}

// TestStates follows a session from an untrusted document to a removed workspace.
func TestStates(t *testing.T) {
	c := newClone(t)
	check := func(when string, states, findings []string) {
		t.Helper()
		if got := c.states(); !slices.Equal(got, states) {
			t.Errorf("%s: states %q, want %q", when, got, states)
		}
		if got := c.findings(); !slices.Equal(got, findings) {
			t.Errorf("%s: findings %q, want %q", when, got, findings)
		}
	}
	none := []string{}
	c.Appended("plain", "Hello.")
	check("a conversation", none, none)
	c.ImportFile(c.WriteFile("s.md", threeCalls))
	check("imported", []string{"untrusted s"}, none)
	if err := c.Trust(t.Context(), c.Tip("s")); err != nil {
		t.Fatal(err)
	}
	check("trusted", none, none)
	if _, _, err := c.run(turns.RunRequest{Name: "s"}); err != nil {
		t.Fatal(err)
	}
	check("run", []string{"live s"}, none)
	c.put("s", "mine", "x")
	check("changed by hand", []string{"dirty s"}, []string{"info s"})
	c.write1("s", "on")
	check("a call committed that", []string{"live s"}, none)
	v, err := c.Store.WorkspaceTip(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	c.Committed("s", enginetest.WorkTree, nil, domarkx.VersionCommit{Parents: []string{v.ID}, Operation: "merge"})
	check("another clone's version", []string{"outdated s"}, []string{"info s"})
	if _, err := c.RemoveWorkspace(t.Context(), "s", func(error) {}); err != nil {
		t.Fatal(err)
	}
	check("removed", none, none)
}

// TestStateOfAFailedSetup reports a setup script that failed until it succeeds.
func TestStateOfAFailedSetup(t *testing.T) {
	c := newClone(t)
	c.Trusted("s", enginetest.NotesConfig+"\n```note setup-script\na=1\nexit\n```\n\n## assistant\n\n"+enginetest.CallBlock("read", `{"name": "a"}`))
	if _, _, err := c.run(turns.RunRequest{Name: "s"}); err == nil {
		t.Fatal("the setup script did not fail")
	}
	if got := c.states(); !slices.Contains(got, "setup s") {
		t.Errorf("states %q", got)
	}
	if got := c.findings(); !slices.Contains(got, "warning s") {
		t.Errorf("findings %q", got)
	}
}

// TestWorkspacePaths checks which directories a session works in, and the hints where there is none.
func TestWorkspacePaths(t *testing.T) {
	c := ranThree(t)
	c.Appended("plain", "Hello.")
	c.Committed("versions", enginetest.WorkTree, nil, domarkx.VersionCommit{Operation: "create"})
	var notLive *turns.NotLiveError
	for _, tt := range []struct {
		workspace, resource string
		check               func(paths []string, err error) bool
	}{
		{"s", "", func(paths []string, err error) bool { return err == nil && len(paths) == 1 }},
		{"s", "notes", func(paths []string, err error) bool { return err == nil && len(paths) == 1 }},
		{"s", "none", func(_ []string, err error) bool { return errors.Is(err, domarkx.ErrNotFound) }},
		{"plain", "", func(_ []string, err error) bool { return errors.As(err, &notLive) && notLive.Workspace == "plain" }},
		{"versions", "", func(_ []string, err error) bool {
			return errors.As(err, &notLive) && strings.Contains(err.Error(), "git domarkx checkout")
		}},
		{"nothing", "", func(_ []string, err error) bool {
			return errors.Is(err, domarkx.ErrNotFound) && !errors.As(err, &notLive)
		}},
	} {
		if paths, err := c.WorkspacePaths(t.Context(), tt.workspace, tt.resource); !tt.check(paths, err) {
			t.Errorf("%s, %q: %q, %v", tt.workspace, tt.resource, paths, err)
		}
	}
}

// TestRemoveWorkspaces checks which workspaces can be removed, and that changes which cannot be committed are kept
// until the user gives them up.
func TestRemoveWorkspaces(t *testing.T) {
	c := ranThree(t)
	if _, err := c.RemoveWorkspace(t.Context(), "none", nil); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no workspace: %v", err)
	}
	if _, err := c.Remove(t.Context(), "none", nil); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("no session: %v", err)
	}
	directory := c.directory("s")
	c.put("s", "mine", "x")
	c.Notes.Torn = errors.New("a page is torn")
	for name, remove := range map[string]func() error{
		"the workspace": func() error { _, err := c.RemoveWorkspace(t.Context(), "s", nil); return err },
		"the session":   func() error { _, err := c.Remove(t.Context(), "s", nil); return err },
	} {
		if err := remove(); err == nil || !strings.Contains(err.Error(), "--force discards them") {
			t.Errorf("%s: %v", name, err)
		}
		if holds := filepath.Join(directory, "mine"); !exists(holds) || c.Tip("s").ID == "" {
			t.Errorf("%s: the changes are gone", name)
		}
	}
	var lost []string
	if _, err := c.Remove(t.Context(), "s", func(err error) { lost = append(lost, err.Error()) }); err != nil {
		t.Fatal(err)
	}
	if len(lost) != 1 || !strings.Contains(lost[0], "are lost (notes)") || exists(directory) {
		t.Errorf("lost %q", lost)
	}
	if _, err := c.Restore(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	c.write1("s", "on")
	c.expect("s", "a=on b=2 c=3")
	if _, err := c.Restore(t.Context(), "s"); !errors.Is(err, domarkx.ErrExists) {
		t.Errorf("restored over a session: %v", err)
	}
	if _, err := c.Restore(t.Context(), "never"); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("restored nothing: %v", err)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// TestRemovedSessionKeepsItsWorkspace removes and restores a session that works in the workspace of another one.
func TestRemovedSessionKeepsItsWorkspace(t *testing.T) {
	c := ranThree(t)
	c.Trusted("guest", enginetest.NotesConfig+"\n## user\n\nhi\n")
	if err := c.AttachWorkspace(t.Context(), "guest", "s"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Remove(t.Context(), "s", nil); err != nil { // its workspace is still needed
		t.Fatal(err)
	}
	c.write1("guest", "mine")
	if _, err := c.Remove(t.Context(), "guest", nil); err != nil {
		t.Fatal(err)
	}
	if got, err := c.WorkspaceOf(t.Context(), "guest"); err != nil || got != "guest" {
		t.Errorf("the name of a removed session works in %q, %v", got, err)
	}
	if _, err := c.Restore(t.Context(), "guest"); err != nil {
		t.Fatal(err)
	}
	if got, err := c.WorkspaceOf(t.Context(), "guest"); err != nil || got != "s" {
		t.Errorf("restored, it works in %q, %v", got, err)
	}
	for session, workspace := range map[string]string{"guest": "nowhere", "nobody": "s"} {
		if err := c.AttachWorkspace(t.Context(), session, workspace); !errors.Is(err, domarkx.ErrNotFound) {
			t.Errorf("%s to %s: %v", session, workspace, err)
		}
	}
}

// TestRenames checks names that a session cannot get, and what follows it.
func TestRenames(t *testing.T) {
	c := newClone(t)
	c.Appended("a", "one")
	c.Appended("b", "two")
	for _, tt := range []struct {
		from, to string
		want     error
	}{
		{"none", "c", domarkx.ErrNotFound}, {"a", "b", domarkx.ErrExists}, {"a", "a", nil}, {"a", "", domarkx.ErrInvalid}, {"a", "a/b", nil}, {"a/b", "a", nil}, {"a", "b/c", domarkx.ErrExists},
	} {
		info, err := c.Rename(t.Context(), tt.from, tt.to)
		if !errors.Is(err, tt.want) || tt.want == nil && (err != nil || info.Name != tt.to) {
			t.Errorf("%s to %q: %+v, %v; want %v", tt.from, tt.to, info, err, tt.want)
		}
	}
	list, err := c.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" {
		t.Errorf("%+v, %v", list, err)
	}
	c.Fsck()
}

// TestForkRefuses checks forks that cannot be made. They leave nothing.
func TestForkRefuses(t *testing.T) {
	c := ranThree(t)
	c.Appended("other", "Hello.")
	for _, tt := range []struct {
		revision, name string
		want           error
	}{
		{"none", "new", domarkx.ErrNotFound}, {"s#9", "new", domarkx.ErrNotFound}, {"s~99", "new", domarkx.ErrNotFound},
		{"s", "other", domarkx.ErrExists}, {"s", "s", domarkx.ErrExists}, {"s", "", domarkx.ErrInvalid}, {"s", "a..b", domarkx.ErrInvalid},
	} {
		r, err := engine.ParseRevision(tt.revision)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Fork(t.Context(), r, tt.name); !errors.Is(err, tt.want) {
			t.Errorf("%s as %q: %v; want %v", tt.revision, tt.name, err, tt.want)
		}
	}
	list, err := c.List(t.Context())
	workspaces, err2 := c.Store.Workspaces(t.Context())
	if err := errors.Join(err, err2); err != nil || len(list) != 2 || len(workspaces) != 1 {
		t.Errorf("%d sessions, %d workspaces, %v", len(list), len(workspaces), err)
	}
}
