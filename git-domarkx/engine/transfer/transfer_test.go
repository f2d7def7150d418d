package transfer_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/enginetest"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/git-domarkx/secrets/redact"
	"github.com/domarkx/domarkx/git-domarkx/secrets/scan"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

func TestMain(m *testing.M) { os.Exit(enginetest.Main(m)) }

// A clone is a repository with the remote "origin".
type clone struct {
	*enginetest.Clone
	*transfer.Manager
	redactions *redact.Manager
}

// newRemote returns a bare repository.
func newRemote(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "origin.git")
	gittest.Create(t, dir, "master", true)
	return dir
}

func newClone(t *testing.T, remote string) clone {
	t.Helper()
	c := enginetest.New(t)
	run(t, c.Dir, "remote", "add", "origin", remote)
	redactor := redact.NewRedactor(c.Store, c.Env, scan.New(c.Store, c.Env))
	c.Redacts(redactor)
	redactions := redact.New(c.SessionManager, redactor)
	return clone{c, transfer.New(c.SessionManager, c.Store, c.Env, redactions), redactions}
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (c clone) push(names ...string) string {
	c.T.Helper()
	results, err := c.Push(c.T.Context(), transfer.PushRequest{Remote: "origin", Names: names, All: len(names) == 0}, nil)
	return c.told(results, err)
}

func (c clone) pull(names ...string) string {
	c.T.Helper()
	results, err := c.Pull(c.T.Context(), transfer.PullRequest{Remote: "origin", Names: names}, nil)
	return c.told(results, err)
}

// told returns results as "NAME STATUS" lines, "!" marking failures.
func (c clone) told(results []transfer.Result, err error) string {
	c.T.Helper()
	if err != nil {
		c.T.Fatal(err)
	}
	var lines []string
	for _, r := range results {
		line := r.Name + " " + r.Status
		if r.Failed {
			line = "!" + line
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func expect(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, expected %q", what, got, want)
	}
}

// TestPushAndPull sends sessions both ways: new ones, changes, none, and changes on both sides.
func TestPushAndPull(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	expect(t, "push of nothing", a.push(), "")
	a.Appended("s", "one")
	a.Appended("t/deep", "one")
	expect(t, "push", a.push(), "s new\nt/deep new")
	expect(t, "push again", a.push(), "s up to date\nt/deep up to date")
	expect(t, "pull of one", b.pull("s"), "s new")
	expect(t, "pull", b.pull(), "s up to date\nt/deep new")
	for _, name := range []string{"s", "t/deep"} {
		if a.Tip(name).ID != b.Tip(name).ID {
			t.Errorf("%s differs", name)
		}
	}
	b.Appended("s", "two")
	expect(t, "push of a change", b.push(), "s updated\nt/deep up to date")
	expect(t, "pull of a change", a.pull(), "s updated\nt/deep up to date")
	a.Appended("s", "from a")
	b.Appended("s", "from b")
	expect(t, "push by a", a.push("s"), "s updated")
	if got := b.push("s"); !strings.HasPrefix(got, "!s rejected") {
		t.Errorf("push by b: %q", got)
	}
	expect(t, "pull by b", b.pull("s"), "s merged")
	shown := b.Shown("s")
	for _, text := range []string{"one", "two", "from a", "from b"} {
		if strings.Count(shown, text+"\n") != 1 {
			t.Errorf("%q is not in the merged session once:\n%s", text, shown)
		}
	}
	expect(t, "push of the merge", b.push("s"), "s updated")
	expect(t, "pull of the merge", a.pull("s"), "s updated")
	expect(t, "merged session", a.Shown("s"), shown)
	a.Fsck()
	b.Fsck()
}

// TestRemovedSessions removes sessions on either side.
func TestRemovedSessions(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	for _, name := range []string{"unchanged", "changed", "mine"} {
		a.Appended(name, "text")
	}
	a.push()
	b.pull()
	for _, name := range []string{"unchanged", "changed", "mine"} {
		if _, err := a.Remove(t.Context(), name, nil); err != nil {
			t.Fatal(err)
		}
	}
	b.Appended("changed", "more")
	a.push()
	if got := run(t, remote, "for-each-ref", "--format=%(refname)", "refs/domarkx/sessions"); got != "" {
		t.Errorf("the remote still has %q", got)
	}
	got := b.pull()
	if !strings.Contains(got, "unchanged removed") || !strings.Contains(got, "mine removed") {
		t.Errorf("pull: %q", got)
	}
	list, err := b.List(t.Context())
	if err != nil || len(list) != 1 || list[0].Name != "changed" {
		t.Errorf("after the pull: %v, %v", list, err)
	}
	if !strings.Contains(b.Shown("changed"), "more") {
		t.Error("the changed session lost its change")
	}
}

// TestFetchChangesNothing fetches: the differences are known, and the sessions are as before.
func TestFetchChangesNothing(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	for _, name := range []string{"behind", "ahead", "diverged", "same", "gone"} {
		a.Appended(name, "text")
	}
	a.push()
	b.pull()
	a.Appended("behind", "more")
	a.Appended("diverged", "more")
	a.Appended("new", "text")
	a.push()
	b.Appended("ahead", "mine")
	b.Appended("diverged", "mine")
	if _, err := b.Remove(t.Context(), "gone", nil); err != nil {
		t.Fatal(err)
	}
	before := run(t, b.Dir, "for-each-ref", "refs/domarkx")
	if _, err := b.Fetch(t.Context(), "origin", nil, nil); err != nil {
		t.Fatal(err)
	}
	expect(t, "refs", run(t, b.Dir, "for-each-ref", "refs/domarkx"), before)
	found, err := b.Divergences(t.Context(), []string{"origin"})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range found {
		lines = append(lines, d.Name+" "+d.State)
	}
	slices.Sort(lines)
	expect(t, "divergences", strings.Join(lines, "\n"), "ahead ahead\nbehind behind\ndiverged diverged\ngone only there\nnew only there")
}

// TestUnknown exchanges with a remote and sessions that do not exist.
func TestUnknown(t *testing.T) {
	c := newClone(t, newRemote(t))
	c.Appended("s", "text")
	for what, test := range map[string]struct {
		call func() error
		want error
	}{
		"push to nowhere": {func() error {
			_, err := c.Push(t.Context(), transfer.PushRequest{Remote: "nowhere", All: true}, nil)
			return err
		}, nil},
		"pull from nowhere":  {func() error { _, err := c.Pull(t.Context(), transfer.PullRequest{Remote: "nowhere"}, nil); return err }, nil},
		"fetch from nowhere": {func() error { _, err := c.Fetch(t.Context(), "nowhere", nil, nil); return err }, nil},
		"push of no session": {func() error {
			_, err := c.Push(t.Context(), transfer.PushRequest{Remote: "origin", Names: []string{"none"}}, nil)
			return err
		}, domarkx.ErrNotFound},
		"push of a bad name": {func() error {
			_, err := c.Push(t.Context(), transfer.PushRequest{Remote: "origin", Names: []string{"a..b"}}, nil)
			return err
		}, nil},
		"remote is no work tree": {func() error {
			run(t, c.Dir, "remote", "add", "gone", filepath.Join(t.TempDir(), "gone"))
			_, err := c.Pull(t.Context(), transfer.PullRequest{Remote: "gone"}, nil)
			return err
		}, nil},
	} {
		if err := test.call(); err == nil || test.want != nil && !errors.Is(err, test.want) {
			t.Errorf("%s: %v, expected %v", what, err, test.want)
		}
	}
	expect(t, "pull of no session", c.pull("none"), "!none not there")
	c.Fsck()
}

// TestWorkspacesTravel makes calls in two clones. The workspace goes with its session, and two that
// changed on both sides are joined.
func TestWorkspacesTravel(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.Trusted("s", enginetest.NotesConfig+"\n## user\n\nWrite.\n\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "n", "text": "first"}`))
	ran, err := a.Run(t.Context(), turns.RunRequest{Name: "s"})
	if err != nil || ran.Failed > 0 {
		t.Fatalf("%+v, %v", ran, err)
	}
	a.push("s")
	if got := run(t, remote, "for-each-ref", "--format=%(refname)"); !strings.Contains(got, "refs/domarkx/workspaces/s") {
		t.Errorf("the remote has %q", got)
	}
	b.pull("s")
	outgoing, err := b.Outgoing(t.Context(), []string{"s"})
	if out := outgoing["s"]; err != nil || len(out.Tips) != 2 || out.Tips[0] != b.Tip("s").ID || len(out.Workspaces) != 1 || out.Workspaces[0] != "s" {
		t.Errorf("outgoing: %+v, %v", outgoing, err)
	}
	if n := len(b.Notes.Calls()); n > 0 {
		t.Errorf("pulling made %d calls", n)
	}
	if _, err := b.Run(t.Context(), turns.RunRequest{Name: "s"}); err == nil {
		t.Error("a pulled session runs without trust")
	}
	if err := b.Trust(t.Context(), b.Tip("s")); err != nil {
		t.Fatal(err)
	}
	for i, c := range []clone{a, b} {
		text := []string{"from a", "from b"}[i]
		c.Saved("s", c.Tip("s").ID, c.Shown("s")+"\n## assistant\n\n"+enginetest.CallBlock("write", `{"name": "`+text+`", "text": "x"}`))
		if _, err := c.Run(t.Context(), turns.RunRequest{Name: "s"}); err != nil {
			t.Fatal(err)
		}
	}
	a.push("s")
	b.pull("s")
	b.push("s")
	a.pull("s")
	expect(t, "sessions", a.Shown("s"), b.Shown("s"))
	expect(t, "workspaces", run(t, a.Dir, "rev-parse", "refs/domarkx/workspaces/s"), run(t, b.Dir, "rev-parse", "refs/domarkx/workspaces/s"))
	if parents := strings.Fields(run(t, a.Dir, "rev-list", "--parents", "-1", "refs/domarkx/workspaces/s")); len(parents) < 3 {
		t.Errorf("the workspaces were not joined: %q", parents)
	}
	tips, err := a.Tracked(t.Context(), "origin")
	if err != nil || tips.Sessions["s"] != a.Tip("s").ID {
		t.Errorf("tracked: %v, %v", tips, err)
	}
	a.Fsck()
	b.Fsck()
}
