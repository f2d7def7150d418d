package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// A clone is a repository with a remote.
type clone struct {
	dir    string
	refs   *refdb.Refs
	client *remote.Client
	origin remote.Remote
}

func attach(t testing.TB, dir, url string) *clone {
	t.Helper()
	gittest.Run(t, dir, "config", "remote.origin.url", url)
	g := discover(t, dir)
	refs := refdb.Open(t.Context(), g)
	origin, err := remote.Find(t.Context(), g, "")
	if err != nil {
		t.Fatal(err)
	}
	accept := func(ref string) error {
		if strings.Contains(ref, "@") {
			return domarkx.ErrInvalid
		}
		return nil
	}
	return &clone{dir, refs, &remote.Client{Git: g, Refs: refs, Kinds: []string{"sessions"}, Accept: accept}, origin}
}

func (c *clone) set(t testing.TB, changes ...refdb.Change) {
	t.Helper()
	release, err := c.refs.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := c.refs.Update(t.Context(), "test", changes...); err != nil {
		t.Fatal(err)
	}
}

func (c *clone) push(t testing.TB, changes ...refdb.Change) []remote.Result {
	t.Helper()
	results, err := c.client.Push(t.Context(), c.origin, changes...)
	if err != nil {
		t.Fatal(err)
	}
	return results
}

func (c *clone) fetch(t testing.TB, refs ...string) remote.FetchResult {
	t.Helper()
	fetched, err := c.client.Fetch(t.Context(), c.origin, refs...)
	if err != nil {
		t.Fatal(err)
	}
	return fetched
}

func session(name string) string { return "refs/domarkx/sessions/" + name }

func statuses(results []remote.Result) string {
	var all []string
	for _, result := range results {
		all = append(all, string(result.Status))
	}
	return strings.Join(all, " ")
}

func locks(t testing.TB, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.Contains(path, "/domarkx/") && (strings.HasSuffix(path, ".lock") || filepath.Base(path) == "FETCH_HEAD") {
			t.Errorf("left behind: %s", path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPushAndFetch(t *testing.T) {
	hub := gittest.Init(t, "--bare")
	a, b := attach(t, gittest.Init(t), hub), attach(t, gittest.Init(t), "file://"+hub)
	gittest.Run(t, b.dir, "config", "remote.origin.fetch", "+refs/*:refs/everything/*")
	gittest.Run(t, a.dir, "config", "remote.origin.mirror", "true")
	a = attach(t, a.dir, hub)
	ids := gittest.Commits(t, a.dir, 3)
	gittest.Run(t, a.dir, "tag", "v1", ids[0])
	gittest.Run(t, a.dir, "update-ref", "refs/heads/main", ids[0])
	a.set(t, refdb.Change{Ref: session("x"), New: ids[0]}, refdb.Change{Ref: session("y/z"), New: ids[1]})

	got := a.push(t, refdb.Change{Ref: session("x"), New: ids[0]}, refdb.Change{Ref: session("y/z"), New: ids[1]})
	if statuses(got) != "created created" {
		t.Errorf("first push: %v", got)
	}
	if got := a.push(t, refdb.Change{Ref: session("x"), Old: ids[0], New: ids[0]}); statuses(got) != "up-to-date" {
		t.Errorf("push of nothing: %v", got)
	}
	if refs := gittest.Run(t, hub, "for-each-ref", "--format=%(refname)"); refs != session("x")+"\n"+session("y/z") {
		t.Errorf("the hub has %q", refs)
	}
	if seen, ignored, err := a.client.Seen(a.origin); len(seen) != 2 || len(ignored) != 0 || err != nil {
		t.Errorf("Seen = %v, %v, %v", seen, ignored, err)
	}

	fetched := b.fetch(t)
	want := []refdb.Change{{Ref: session("x"), New: ids[0]}, {Ref: session("y/z"), New: ids[1]}}
	if !slices.Equal(fetched.Changes, want) || len(fetched.Refs) != 2 || len(fetched.Ignored) != 0 {
		t.Errorf("fetch: %v", fetched)
	}
	if fetched := b.fetch(t); len(fetched.Changes) != 0 || len(fetched.Refs) != 2 {
		t.Errorf("fetch again: %v", fetched)
	}
	prefix := "refs/domarkx-remotes/origin/sessions/"
	if refs := gittest.Run(t, b.dir, "for-each-ref", "--format=%(refname)"); refs != prefix+"x\n"+prefix+"y/z" {
		t.Errorf("the clone has %q", refs)
	}
	locks(t, b.dir)

	// A name that becomes a directory, a removal, a new value.
	got = a.push(t, refdb.Change{Ref: session("y/z"), Old: ids[1]}, refdb.Change{Ref: session("x"), Old: ids[0], New: ids[2]})
	if statuses(got) != "deleted updated" {
		t.Errorf("second push: %v", got)
	}
	if got := a.push(t, refdb.Change{Ref: session("y"), New: ids[1]}); statuses(got) != "created" {
		t.Errorf("third push: %v", got)
	}
	want = []refdb.Change{
		{Ref: session("x"), Old: ids[0], New: ids[2]},
		{Ref: session("y"), New: ids[1]},
		{Ref: session("y/z"), Old: ids[1]},
	}
	if fetched := b.fetch(t); !slices.Equal(fetched.Changes, want) {
		t.Errorf("fetch of the changes: %v", fetched)
	}

	// The clone does not know of the other's change: nothing is overwritten or changed.
	a.push(t, refdb.Change{Ref: session("x"), Old: ids[2], New: ids[0]})
	gittest.Run(t, b.dir, "fetch", "-q", "--no-write-fetch-head", hub, session("x"))
	got = b.push(t, refdb.Change{Ref: session("x"), Old: ids[2], New: ids[1]}, refdb.Change{Ref: session("new"), New: ids[1]})
	if statuses(got) != "stale held" {
		t.Errorf("stale push: %v", got)
	}
	if got := b.push(t, refdb.Change{Ref: session("x"), New: ids[1]}); statuses(got) != "stale" {
		t.Errorf("push of an unseen one: %v", got)
	}
	if id := gittest.Run(t, hub, "rev-parse", session("x")); id != ids[0] {
		t.Errorf("the hub is at %s", id)
	}
	if fetched := b.fetch(t, session("y")); len(fetched.Changes) != 0 || len(fetched.Refs) != 2 {
		t.Errorf("fetch of one: %v", fetched)
	}
	if fetched := b.fetch(t, session("none"), session("x")); len(fetched.Changes) != 1 {
		t.Errorf("fetch of two: %v", fetched)
	}
	locks(t, b.dir)
	locks(t, hub)
}

func TestRefused(t *testing.T) {
	hub := gittest.Init(t, "--bare")
	a := attach(t, gittest.Init(t), hub)
	ids := gittest.Commits(t, a.dir, 2)
	changes := []refdb.Change{{Ref: session("x"), New: ids[0]}, {Ref: session("y"), New: ids[1]}}
	a.set(t, changes...)
	tests := []struct{ hook, script, want, reason string }{
		{"pre-receive", "exit 1", "refused refused", "pre-receive hook declined"},
		{"update", "test $1 != refs/domarkx/sessions/y", "held refused", "hook declined"},
	}
	for _, test := range tests {
		t.Run(test.hook, func(t *testing.T) {
			path := filepath.Join(hub, "hooks", test.hook)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("#!/bin/sh\nprintf 'red \\033[31m'\n"+test.script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			defer os.Remove(path)
			got := a.push(t, changes...)
			if statuses(got) != test.want || !strings.Contains(got[1].Reason, test.reason) {
				t.Errorf("push: %v", got)
			}
			if refs := gittest.Run(t, hub, "for-each-ref"); refs != "" {
				t.Errorf("the hub took %q", refs)
			}
			if seen, _, err := a.client.Seen(a.origin); len(seen) != 0 || err != nil {
				t.Errorf("Seen = %v, %v", seen, err)
			}
		})
	}
}

func TestUnreachable(t *testing.T) {
	a := attach(t, gittest.Init(t), "/nowhere/at/all")
	id := gittest.Commits(t, a.dir, 1)[0]
	a.set(t, refdb.Change{Ref: session("x"), New: id})
	if _, err := a.client.Fetch(t.Context(), a.origin); err == nil || !strings.Contains(err.Error(), "nowhere") {
		t.Errorf("fetch: %v", err)
	}
	results, err := a.client.Push(t.Context(), a.origin, refdb.Change{Ref: session("x"), New: id})
	if err == nil || statuses(results) != "unknown" {
		t.Errorf("push: %v, %v", results, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.client.Fetch(ctx, a.origin); !errors.Is(err, context.Canceled) {
		t.Errorf("fetch: %v, want %v", err, context.Canceled)
	}
	locks(t, a.dir)
}

func TestHostileRemote(t *testing.T) {
	hub := gittest.Init(t, "--bare")
	b := attach(t, gittest.Init(t), hub)
	id := gittest.Commits(t, hub, 1)[0]
	for _, name := range []string{session("good"), session("at@sign"), "refs/domarkx/workspaces/w", "refs/domarkx/loose", "refs/domarkx-trash/t", "refs/heads/main", "refs/domarkx-remotes/origin/sessions/fake"} {
		gittest.Run(t, hub, "update-ref", name, id)
	}
	fetched := b.fetch(t)
	if len(fetched.Refs) != 1 || fetched.Refs[0].Name != session("good") || len(fetched.Ignored) != 1 || !errors.Is(fetched.Ignored[0], domarkx.ErrInvalid) {
		t.Errorf("fetch: %v", fetched)
	}
	want := "refs/domarkx-remotes/origin/sessions/good"
	if refs := gittest.Run(t, b.dir, "for-each-ref", "--format=%(refname)"); refs != want {
		t.Errorf("the clone has %q", refs)
	}

	// A tree with an entry .git is rejected, and the other references are fetched.
	tree := filepath.Join(t.TempDir(), "tree")
	if err := os.WriteFile(tree, append([]byte("40000 .git\x00"), make([]byte, 20)...), 0o666); err != nil {
		t.Fatal(err)
	}
	bad := gittest.Run(t, hub, "hash-object", "-w", "-t", "tree", "--literally", tree)
	commit := filepath.Join(t.TempDir(), "commit")
	if err := os.WriteFile(commit, []byte("tree "+bad+"\nauthor A <a> 1 +0000\ncommitter A <a> 1 +0000\n\nx\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	evil := gittest.Run(t, hub, "hash-object", "-w", "-t", "commit", "--literally", commit)
	gittest.Run(t, hub, "update-ref", session("evil"), evil)
	gittest.Run(t, hub, "update-ref", session("zulu"), id)
	want += "\nrefs/domarkx-remotes/origin/sessions/zulu"
	if fetched := b.fetch(t); fetched.Rejected[session("evil")] == nil || len(fetched.Rejected) != 1 {
		t.Errorf("a bad tree was fetched: %v", fetched)
	}
	if refs := gittest.Run(t, b.dir, "for-each-ref", "--format=%(refname)"); refs != want {
		t.Errorf("the clone has %q", refs)
	}
	locks(t, b.dir)
}

func TestPushManyInParts(t *testing.T) {
	hub := gittest.Init(t, "--bare")
	a := attach(t, gittest.Init(t), hub)
	id := gittest.Commits(t, a.dir, 1)[0]
	var changes []refdb.Change
	for i := range 250 {
		changes = append(changes, refdb.Change{Ref: session(fmt.Sprintf("%s%d", strings.Repeat(strings.Repeat("long", 50)+"/", 6), i)), New: id})
	}
	a.set(t, changes...)
	results := a.push(t, changes...)
	for i, result := range results {
		if result.Status != remote.Created || result.Ref != changes[i].Ref {
			t.Fatalf("%d: %v", i, result)
		}
	}
	if seen, _, err := a.client.Seen(a.origin); len(seen) != len(changes) || err != nil {
		t.Errorf("Seen: %d, %v", len(seen), err)
	}
}

func TestShapes(t *testing.T) {
	source := gittest.Init(t)
	gittest.Run(t, source, "commit", "-q", "--allow-empty", "-m", "one")
	gittest.Run(t, source, "commit", "-q", "--allow-empty", "-m", "two")
	gittest.Run(t, source, "config", "uploadpack.allowFilter", "true")
	blob := filepath.Join(source, "file")
	if err := os.WriteFile(blob, []byte("content\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, source, "add", "file")
	tree := gittest.Run(t, source, "write-tree")
	commit := gittest.Run(t, source, "commit-tree", "-m", "session", tree)
	gittest.Run(t, source, "update-ref", session("s"), commit)
	for _, options := range []string{"--depth=1", "--filter=blob:none", "--bare", "--shared", "--sparse", "--mirror"} {
		t.Run(options, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "clone")
			url := "file://" + source
			if options == "--shared" {
				url = source
			}
			gittest.Run(t, "", "clone", "-q", options, url, dir)
			c := attach(t, dir, url)
			if fetched := c.fetch(t); len(fetched.Refs) != 1 || fetched.Refs[0].ID != commit {
				t.Errorf("fetch: %v", fetched)
			}
			if missing := gittest.Run(t, dir, "rev-list", "--objects", "--missing=print", commit); strings.Contains(missing, "?") {
				t.Errorf("objects are missing: %s", missing)
			}
			if got := c.push(t, refdb.Change{Ref: session("new"), New: commit}); statuses(got) != "created" {
				t.Errorf("push: %v", got)
			}
			if got := c.push(t, refdb.Change{Ref: session("new"), Old: commit}); statuses(got) != "deleted" {
				t.Errorf("push of a removal: %v", got)
			}
			gittest.Run(t, dir, "fsck", "--strict")
		})
	}
}
