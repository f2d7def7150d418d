package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// A place is a repository in which a test runs commands and simulates calls.
type place struct {
	t   *testing.T
	dir string
}

// newPlace creates a repository in a temporary directory of its own.
func newPlace(t *testing.T, args ...string) place {
	t.Helper()
	for key, value := range map[string]string{
		"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "Ada", "GIT_AUTHOR_EMAIL": "ada@example.org", "GIT_COMMITTER_NAME": "Ada", "GIT_COMMITTER_EMAIL": "ada@example.org",
	} {
		t.Setenv(key, value)
	}
	p := place{t, t.TempDir()}
	if len(args) > 0 {
		p.git(append(append([]string{"init", "-q"}, args...), p.dir)...)
	} else {
		gittest.Create(t, filepath.Join(p.dir, ".git"), "master", false)
	}
	return p
}

// copied returns a mirror clone of the repository in its present state, for others to
// pull from.
func (p place) copied() string {
	p.t.Helper()
	dir := p.t.TempDir()
	p.git("clone", "-q", "--mirror", p.dir, dir)
	return dir
}

func (p place) git(args ...string) string {
	p.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// run runs the command, checks that it exits with status want, and returns its output.
func (p place) run(want int, args ...string) (stdout, stderr string) {
	p.t.Helper()
	p.t.Chdir(p.dir)
	status, stdout, stderr := invoke(p.t, "", args...)
	if status != want {
		p.t.Fatalf("%v: status %d, want %d\n%s%s", args, status, want, stdout, stderr)
	}
	return stdout, stderr
}

func (p place) refs() string {
	p.t.Helper()
	return p.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/domarkx/")
}

func (p place) ref(name string) string { return p.git("rev-parse", "refs/domarkx/"+name) }

func (p place) open() *gitstore.Store {
	p.t.Helper()
	g, err := gitcmd.Discover(context.Background(), p.dir, os.Environ())
	if err != nil {
		p.t.Fatal(err)
	}
	s, err := gitstore.Open(context.Background(), g)
	if err != nil {
		p.t.Fatal(err)
	}
	return s
}

// sound fails the test if Git or the store finds damage.
func (p place) sound() {
	p.t.Helper()
	p.git("fsck", "--strict")
	s := p.open()
	defer s.Close()
	if found, err := s.Fsck(context.Background(), nil); err != nil || len(found) > 0 {
		p.t.Errorf("%v, %v", found, err)
	}
}

// call simulates a call by a session: it commits a workspace version with these files,
// and appends a message linked to that version.
func (p place) call(session, workspace, config string, files map[string]string) domarkx.Version {
	p.t.Helper()
	s := p.open()
	defer s.Close()
	v, err := p.called(context.Background(), s, session, workspace, config, files)
	if err != nil {
		p.t.Fatal(err)
	}
	return v
}

func (p place) called(ctx context.Context, s *gitstore.Store, session, workspace, config string, files map[string]string) (v domarkx.Version, err error) {
	b, err := s.BeginVersion(ctx, "")
	if err != nil {
		return v, err
	}
	defer b.Abort()
	errs := []error{b.Add(ctx, "", domarkx.File{Type: domarkx.Directory, Mode: 0o755})}
	for name, content := range files {
		id, size, err := b.Content(ctx, strings.NewReader(content))
		errs = append(errs, err, b.Add(ctx, name, domarkx.File{Type: domarkx.Regular, Mode: 0o644, ID: id, Size: size}))
	}
	id, err := b.Finish(ctx)
	if err := errors.Join(append(errs, err)...); err != nil {
		return v, err
	}
	spec, err := jsonvalue.ParseValue([]byte(config))
	if err != nil {
		return v, err
	}
	who := domarkx.Signature{Name: "Ada", Email: "ada@example.org", When: time.Now()}
	err = s.Update(ctx, "call", func(tx *gitstore.Tx) error {
		c := domarkx.VersionCommit{Operation: "call", Subject: "call", Author: who, Committer: who,
			Resources: []domarkx.ResourceVersion{{ResourceSpec: domarkx.ResourceSpec{ID: "files", Type: "filesystem", Config: spec}, Version: id}}}
		if tip, err := tx.WorkspaceTip(ctx, workspace); err == nil {
			c.Parents = []string{tip.ID}
		}
		if v, err = tx.CommitVersion(ctx, workspace, c); err != nil {
			return err
		}
		tip, err := tx.Tip(ctx, session)
		if err != nil {
			return err
		}
		last, err := tx.Entry(ctx, tip.ID, tip.Messages-1)
		if err != nil {
			return err
		}
		m := domarkx.Message{Role: domarkx.Assistant, Content: []domarkx.Block{{Type: domarkx.TextBlock, Text: "called " + v.ID}}}
		layout := markdown.WriteMessage(m).Layout
		e := domarkx.Entry{ID: domarkx.NewID(uint32(tip.Number), who.When), After: last.ID, Role: m.Role, Date: who.When.Unix(), Link: v.ID,
			Layout: layout, JSON: domarkx.Blob{Data: append(m.Value().AppendJSON(nil, "", "  "), '\n')}}
		info, err := tx.Append(ctx, domarkx.Commit{Parents: []string{tip.ID, v.ID}, Operation: "exec", Subject: "exec", Author: who, Committer: who,
			Bytes: tip.Bytes + 1 + int64(layout.Size), // messages are separated by an empty line
			State: &domarkx.State{Thread: domarkx.Thread{Live: []domarkx.Entry{e}}}})
		if err != nil {
			return err
		}
		return errors.Join(tx.Set(ctx, session, info.ID), tx.SetWorkspace(ctx, workspace, v.ID))
	})
	return v, errors.Join(err, b.Settle())
}

const private = `{"type": "filesystem"}`

func one(content string) map[string]string { return map[string]string{"file": content} }

func TestWorkspacesTravel(t *testing.T) {
	hub, a, b := newPlace(t, "--bare"), newPlace(t), newPlace(t)
	a.run(0, "append", "--new", "-m", "x", "plan")
	a.run(0, "append", "--new", "-m", "x", "other")
	a.call("plan", "plan", private, one("1"))
	first := a.call("plan", "plan", private, one("2"))
	a.call("other", "other", private, one("x"))
	if out, _ := a.run(0, "push", hub.dir, "plan"); out != "plan\tnew\n" {
		t.Errorf("push: %q", out)
	}
	if refs := hub.refs(); strings.Contains(refs, "other") || !strings.Contains(refs, "refs/domarkx/workspaces/plan "+first.ID) {
		t.Errorf("the remote has\n%s", refs)
	}
	if out, _ := b.run(0, "fetch", hub.dir); out != "plan\tnew\n" {
		t.Errorf("fetch: %q", out)
	}
	if refs := b.refs(); refs != "" {
		t.Errorf("fetch changed refs:\n%s", refs)
	}
	if out, _ := b.run(0, "pull", hub.dir); out != "plan\tnew\n" {
		t.Errorf("pull: %q", out)
	}
	if got, want := b.refs(), hub.refs(); got != want {
		t.Errorf("refs are\n%s, want\n%s", got, want)
	}
	second := b.call("plan", "plan", private, one("3"))
	b.run(0, "push", hub.dir)
	if out, _ := a.run(0, "pull", hub.dir, "plan"); out != "plan\tupdated\n" || a.ref("workspaces/plan") != second.ID {
		t.Errorf("pull: %q", out)
	}
	// The workspace changed, but the session did not.
	third := a.call("other", "plan", private, one("4"))
	if out, _ := a.run(0, "push", hub.dir, "plan"); out != "plan\tupdated\n" || hub.ref("workspaces/plan") != third.ID {
		t.Errorf("push: %q", out)
	}
	if out, _ := b.run(0, "pull", hub.dir); out != "plan\tupdated\n" || b.ref("workspaces/plan") != third.ID {
		t.Errorf("pull: %q", out)
	}
	for _, p := range []place{a, b} {
		if out, _ := p.run(0, "pull", hub.dir, "plan"); out != "plan\tup to date\n" {
			t.Errorf("pull: %q", out)
		}
		p.sound()
	}
	// Removing the session and its workspace propagates.
	b.run(0, "rm", "plan")
	if out, _ := b.run(0, "push", hub.dir); out != "plan\tremoved there\n" || hub.refs() != "" {
		t.Errorf("push: %q\n%s", out, hub.refs())
	}
	if out, _ := a.run(0, "pull", hub.dir); out != "plan\tremoved there, moved to the trash\n" || strings.Contains(a.refs(), "plan") {
		t.Errorf("pull: %q\n%s", out, a.refs())
	}
	a.run(0, "restore", "plan")
	if got := a.ref("workspaces/plan"); got != third.ID {
		t.Errorf("restored %s, want %s", got, third.ID)
	}
}

func TestRemovedThereAndChangedHere(t *testing.T) {
	hub, a, b := newPlace(t, "--bare"), newPlace(t), newPlace(t)
	for _, name := range []string{"session", "workspace"} {
		a.run(0, "append", "--new", "-m", "x", name)
		a.call(name, name, private, one("1"))
	}
	a.run(0, "push", "--all", hub.dir)
	b.run(0, "pull", hub.dir)
	b.run(0, "append", "--new", "-m", "x", "elsewhere")
	b.run(0, "append", "--new", "-m", "y", "session")
	kept := b.call("elsewhere", "workspace", private, one("2"))
	a.run(0, "rm", "session")
	a.run(0, "rm", "workspace")
	a.run(0, "push", hub.dir)
	out, _ := b.run(0, "pull", hub.dir)
	if out != "session\tremoved there, kept: it changed here\nworkspace\tremoved there, kept: it changed here\n" {
		t.Errorf("pull: %q", out)
	}
	if b.ref("workspaces/workspace") != kept.ID {
		t.Error("the workspace is gone")
	}
}

// TestDivergedWorkspaces checks that both sides create the same merge commits, also in a
// third clone that merges in a different order.
func TestDivergedWorkspaces(t *testing.T) {
	a, b, c := newPlace(t), newPlace(t), newPlace(t)
	a.run(0, "append", "--new", "-m", "x", "plan")
	a.call("plan", "plan", private, one("base"))
	base := a.copied()
	b.run(0, "pull", base)
	c.run(0, "pull", base)
	// b has the higher message number, but the last message is from a or c: the ids
	// decide.
	b.call("plan", "plan", private, one("b1"))
	b.call("plan", "plan", private, one("b2"))
	a.call("plan", "plan", private, one("a1"))
	c.call("plan", "plan", private, one("c1"))
	if out, stderr := a.run(1, "push", b.dir, "plan"); !strings.Contains(out, "rejected") {
		t.Errorf("push onto what is not known: %q %q", out, stderr)
	}
	a0, b0, c0 := a.copied(), b.copied(), c.copied()
	if out, _ := a.run(0, "pull", b0); out != "plan\tmerged\n" {
		t.Errorf("pull: %q", out)
	}
	b.run(0, "pull", a0)
	if a.refs() != b.refs() {
		t.Fatalf("one has\n%s\nthe other\n%s", a.refs(), b.refs())
	}
	joined := a.git("log", "-1", "--format=%P %an %ae %ad %s", "--date=raw", "refs/domarkx/workspaces/plan")
	if fields := strings.Fields(joined); fields[0] > fields[1] || fields[2] != "git-domarkx" || fields[5] != "+0000" || fields[6] != "merge" {
		t.Errorf("the commit is %q", joined)
	}
	links := strings.Fields(a.git("log", "--format=%s", "refs/domarkx/sessions/plan"))
	if len(links) == 0 {
		t.Fatal("no history")
	}
	out, _ := a.run(0, "log", "--messages", "plan")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	last := strings.Split(lines[len(lines)-1], "\t")[3]
	if got, want := a.ref("workspaces/plan^{tree}"), a.git("rev-parse", last+"^{tree}"); got != want {
		t.Errorf("the tree is %s, want that of the last linked message, %s", got, want)
	}
	for range 2 {
		if out, _ := a.run(0, "pull", b.dir); out != "plan\tup to date\n" {
			t.Errorf("pull: %q", out)
		}
	}
	// c merges in a different order.
	c.run(0, "pull", b0)
	c.run(0, "pull", a0)
	a.run(0, "pull", c0)
	a1, c1 := a.copied(), c.copied()
	a.run(0, "pull", c1)
	c.run(0, "pull", a1)
	if a.refs() != c.refs() {
		t.Errorf("one has\n%s\nthe other\n%s", a.refs(), c.refs())
	}
	b.run(0, "pull", c.dir)
	if a.refs() != b.refs() {
		t.Errorf("one has\n%s\nthe other\n%s", a.refs(), b.refs())
	}
	a.sound()
}

func TestWorkspacesOfOtherNames(t *testing.T) {
	hub, a, b := newPlace(t, "--bare"), newPlace(t), newPlace(t)
	a.run(0, "append", "--new", "-m", "x", "plan")
	a.run(0, "append", "--new", "-m", "x", "review")
	a.call("plan", "plan", private, one("1"))
	a.git("update-ref", "refs/domarkx/sessions/fork", a.ref("sessions/plan"))
	a.git("update-ref", "refs/domarkx/workspaces/fork", a.ref("workspaces/plan"))
	a.call("fork", "fork", private, one("secret"))
	a.run(0, "push", hub.dir, "plan")
	if refs := hub.refs(); strings.Contains(refs, "fork") {
		t.Errorf("the fork went along:\n%s", refs)
	}
	a.git("config", "domarkx.review.workspace", "shared")
	a.call("review", "shared", private, one("2"))
	a.run(0, "push", hub.dir, "review")
	if refs := hub.refs(); !strings.Contains(refs, "refs/domarkx/workspaces/shared") || strings.Contains(refs, "fork") {
		t.Errorf("the remote has\n%s", refs)
	}
	b.run(0, "pull", hub.dir, "review")
	if refs := b.refs(); !strings.Contains(refs, "refs/domarkx/workspaces/shared") || strings.Contains(refs, "plan") {
		t.Errorf("the clone has\n%s", refs)
	}
	// The session is linked to this workspace but no longer uses it.
	a.run(0, "append", "--new", "-m", "x", "third")
	a.call("third", "old", private, one("3"))
	a.run(0, "push", hub.dir, "third")
	if refs := hub.refs(); !strings.Contains(refs, "refs/domarkx/workspaces/old") {
		t.Errorf("the remote has\n%s", refs)
	}
}

func TestRenamedWorkspaceGoesAlong(t *testing.T) {
	hub, a, b := newPlace(t, "--bare"), newPlace(t), newPlace(t)
	a.run(0, "append", "--new", "-m", "x", "plan")
	a.call("plan", "plan", private, one("1"))
	a.run(0, "push", hub.dir, "plan")
	b.run(0, "pull", hub.dir)
	a.run(0, "rename", "plan", "new")
	if out, _ := a.run(0, "pull", hub.dir); strings.Contains(a.refs(), "/plan") {
		t.Errorf("pull brought the old name back: %q\n%s", out, a.refs())
	}
	a.run(0, "push", hub.dir)
	if refs := hub.refs(); strings.Contains(refs, "/plan") || !strings.Contains(refs, "workspaces/new") {
		t.Errorf("the remote has\n%s", refs)
	}
	b.run(0, "pull", hub.dir)
	if a.refs() != b.refs() {
		t.Errorf("one has\n%s\nthe other\n%s", a.refs(), b.refs())
	}
}

func TestLinksOfAStranger(t *testing.T) {
	hub, a, b := newPlace(t, "--bare"), newPlace(t), newPlace(t)
	// The message claims a link to a version that is private to b.
	b.run(0, "append", "--new", "-m", "x", "private")
	secret := b.call("private", "private", private, one("secret"))
	a.run(0, "append", "--new", "-m", "x", "evil")
	a.call("evil", "evil", private, one("1"))
	tip := a.ref("sessions/evil")
	entries := "conversation/0000/00/00/entries"
	forged := strings.Replace(a.git("cat-file", "blob", tip+":"+entries), a.ref("workspaces/evil"), secret.ID, 1)
	file := filepath.Join(t.TempDir(), "entries")
	if err := os.WriteFile(file, []byte(forged+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.git("read-tree", tip)
	a.git("update-index", "--add", "--cacheinfo", "100644,"+a.git("hash-object", "-w", file)+","+entries)
	message := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(message, []byte(a.git("log", "-1", "--format=%B", tip)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.git("push", "-q", hub.dir, a.git("commit-tree", "-p", a.git("rev-parse", tip+"^1"), "-F", message, a.git("write-tree"))+":refs/domarkx/sessions/evil")
	if out, _ := b.run(1, "pull", hub.dir); !strings.Contains(out, "rejected") {
		t.Errorf("pull: %q", out)
	}
	b.git("fetch", "-q", hub.dir, "refs/domarkx/sessions/evil:refs/domarkx/sessions/evil") // without the checks of pull
	if out, _ := b.run(0, "log", "--messages", "evil"); strings.Contains(out, secret.ID) {
		t.Errorf("the link counts: %q", out)
	}
	if out, _ := b.run(0, "show", "--format", "json", "evil"); strings.Contains(out, secret.ID) {
		t.Errorf("the link is shown: %q", out)
	}
	if out, _ := b.run(1, "fsck"); !strings.Contains(out, "not a parent") {
		t.Errorf("fsck: %q", out)
	}
	b.run(0, "append", "--new", "-m", "y", "evil")
	other := newPlace(t, "--bare")
	b.run(0, "push", other.dir, "evil")
	if refs := other.refs(); strings.Contains(refs, "private") {
		t.Errorf("the private workspace went along:\n%s", refs)
	}
	if out, _ := b.run(128, "checkout", "evil#1", filepath.Join(t.TempDir(), "out")); out != "" {
		t.Errorf("checkout: %q", out)
	}
}

func TestPushOfIgnoredFiles(t *testing.T) {
	hub, a := newPlace(t, "--bare"), newPlace(t)
	if err := os.WriteFile(filepath.Join(a.dir, ".gitignore"), []byte(".env\n/site/*.log\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.run(0, "append", "--new", "-m", "x", "plan")
	a.call("plan", "plan", private, map[string]string{"ok": "1", "a.log": "2"})
	a.run(0, "push", hub.dir, "plan")
	before := hub.refs()
	a.call("plan", "plan", private, map[string]string{"ok": "1", ".env": "TOKEN=1"})
	gone := a.call("plan", "plan", private, map[string]string{"ok": "2"}) // .env is now only in the history
	out, stderr := a.run(1, "push", hub.dir)
	if out != "" || !strings.Contains(stderr, "files/.env in version ") || !strings.Contains(stderr, "--allow-ignored") || hub.refs() != before {
		t.Errorf("push: %q, %q", out, stderr)
	}
	if out, _ := a.run(0, "push", "--allow-ignored", hub.dir); out != "plan\tupdated\n" || hub.ref("workspaces/plan") != gone.ID {
		t.Errorf("push: %q", out)
	}
	a.call("plan", "plan", private, map[string]string{"ok": "3"})
	a.run(0, "push", hub.dir) // versions that the remote already has are not checked again

	// For a resource with a path, .gitignore applies at that path.
	a.run(0, "append", "--new", "-m", "x", "site")
	inPlace := `{"type": "filesystem", "path": "site"}`
	a.call("site", "site", inPlace, map[string]string{"index": "1", "a.log": "2"})
	if _, stderr := a.run(1, "push", hub.dir, "site"); !strings.Contains(stderr, "files/a.log") || strings.Contains(stderr, "index") {
		t.Errorf("push: %q", stderr)
	}
	if err := os.Mkdir(filepath.Join(a.dir, "site"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, "site", "a.log"), []byte("2"), 0o600); err != nil {
		t.Fatal(err)
	}
	a.git("add", "-f", "site/a.log") // a tracked file is meant to be shared
	a.run(0, "push", hub.dir, "site")
}

// TestIgnoredFilesOfManyVersions checks that push examines only the files that changed
// between versions.
func TestIgnoredFilesOfManyVersions(t *testing.T) {
	hub, a := newPlace(t, "--bare"), newPlace(t)
	a.run(0, "append", "--new", "-m", "x", "plan")
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("file%03d", i)] = "x"
	}
	for i := range 20 {
		files[fmt.Sprintf("file%03d", i)] = fmt.Sprint(i)
		a.call("plan", "plan", private, files)
	}
	if out, _ := a.run(0, "push", hub.dir, "plan"); out != "plan\tnew\n" {
		t.Errorf("push: %q", out)
	}
}
