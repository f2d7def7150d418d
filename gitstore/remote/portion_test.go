package remote_test

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/remote"
)

// grow makes n commits on top of each other that each add a file of random bytes.
func grow(t *testing.T, dir string, n, size int) []string {
	t.Helper()
	var ids []string
	for range n {
		content := make([]byte, size)
		_, _ = rand.Read(content)
		if err := os.WriteFile(filepath.Join(dir, "file"), content, 0o644); err != nil {
			t.Fatal(err)
		}
		gittest.Run(t, dir, "add", "file")
		gittest.Run(t, dir, "commit", "-qm", "grow")
		ids = append(ids, strings.TrimSpace(gittest.Run(t, dir, "rev-parse", "HEAD")))
	}
	return ids
}

// hook makes a repository log the changes that it accepts, after it has run script. It returns the path of the log.
func hook(t *testing.T, hub, script string) string {
	t.Helper()
	path, log := filepath.Join(hub, "hooks", "pre-receive"), filepath.Join(hub, "changes")
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	program := "#!/bin/sh\n" + script + "\necho push >>" + log + "; cat >>" + log + "\n"
	if err := os.WriteFile(path, []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	return log
}

func pushes(t *testing.T, log string) []string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(text), "push\n")[1:]
}

func TestPushInPortions(t *testing.T) {
	const size = 100_000
	hub, dir := gittest.Init(t, "--bare"), gittest.Init(t)
	a := attach(t, dir, hub)
	log := hook(t, hub, "")
	ids := grow(t, dir, 7, size)
	one, two := session("one"), session("two")

	a.client.Portion = 2*size + size/2
	got := a.push(t, refdb.Change{Ref: one, New: ids[4]}, refdb.Change{Ref: two, New: ids[5]})
	if statuses(got) != "created created" {
		t.Errorf("push: %v", got)
	}
	sent := pushes(t, log)
	if len(sent) != 3 {
		t.Fatalf("%d pushes: %q", len(sent), sent)
	}
	for i, want := range []string{ids[1] + " " + one, ids[3] + " " + one, ids[5] + " " + two} {
		if !strings.Contains(sent[i], want) {
			t.Errorf("push %d is %q, want %s", i, sent[i], want)
		}
	}

	// A commit that is too large goes alone, a deletion goes along, and what the remote has counts nothing.
	a.client.Portion = size / 2
	got = a.push(t, refdb.Change{Ref: one, Old: ids[4], New: ids[6]}, refdb.Change{Ref: two, Old: ids[5]})
	if statuses(got) != "updated deleted" {
		t.Errorf("push: %v", got)
	}
	if sent = pushes(t, log)[3:]; len(sent) > 2 || !strings.Contains(sent[len(sent)-1], ids[6]+" "+one) {
		t.Errorf("pushes: %q", sent)
	}
}

func TestPushPortionRefused(t *testing.T) {
	const size = 100_000
	hub, dir := gittest.Init(t, "--bare"), gittest.Init(t)
	a := attach(t, dir, hub)
	log := hook(t, hub, "test ! -e changes || test $(grep -c push changes) -lt 2 || { echo quota >&2; exit 1; }")
	ids := grow(t, dir, 4, size)
	a.client.Portion = size + size/2
	change := refdb.Change{Ref: session("one"), New: ids[3]}
	other := refdb.Change{Ref: session("two"), New: ids[3]}
	if got := a.push(t, change, other); got[0].Status != remote.Refused || got[1].Status != remote.NotTried || !strings.Contains(got[0].Reason, "quota") {
		t.Errorf("push: %v", got)
	}
	seen, _, err := a.client.Seen(a.origin)
	if err != nil || len(seen) != 1 || seen[0].ID != ids[1] {
		t.Fatalf("Seen = %v, %v; want %s", seen, err, ids[1])
	}
	hook(t, hub, "")
	change.Old = seen[0].ID
	if got := a.push(t, change, other); statuses(got) != "updated created" {
		t.Errorf("push: %v", got)
	}
	if sent := pushes(t, log); len(sent) != 4 {
		t.Errorf("pushes: %q", sent)
	}
	gittest.Run(t, hub, "fsck", "--strict")
}

// A rewritten history replaces the remote's in one push: none of its commits descends from the remote's.
func TestPushPortionRewritten(t *testing.T) {
	const size = 100_000
	hub, dir := gittest.Init(t, "--bare"), gittest.Init(t)
	a := attach(t, dir, hub)
	old := grow(t, dir, 1, size)
	a.push(t, refdb.Change{Ref: session("one"), New: old[0]})
	gittest.Run(t, dir, "checkout", "-q", "--orphan", "other")
	ids := grow(t, dir, 3, size)
	log := hook(t, hub, "")
	a.client.Portion = size / 2
	if got := a.push(t, refdb.Change{Ref: session("one"), Old: old[0], New: ids[2]}); statuses(got) != "updated" {
		t.Errorf("push: %v", got)
	}
	if sent := pushes(t, log); len(sent) != 1 {
		t.Errorf("pushes: %q", sent)
	}
}

// A redaction has replaced the whole history here, and the tracking reference follows it: all of it is still to send.
func TestPushPortionRedacted(t *testing.T) {
	const size = 100_000
	hub, dir := gittest.Init(t, "--bare"), gittest.Init(t)
	a := attach(t, dir, hub)
	old := grow(t, dir, 1, size)
	a.push(t, refdb.Change{Ref: session("one"), New: old[0]})
	gittest.Run(t, dir, "checkout", "-q", "--orphan", "other")
	ids := grow(t, dir, 3, size)
	gittest.Run(t, dir, "checkout", "-q", "--orphan", "another")
	two := grow(t, dir, 2, size)
	tracking := a.origin.Tracking(session("one"))
	gittest.Run(t, dir, "update-ref", tracking, ids[2])
	a.client.There = func(ref, id string) string {
		if ref == tracking && id == ids[2] {
			return old[0]
		}
		return id
	}
	log := hook(t, hub, "")
	a.client.Portion = 2*size + size/2
	got := a.push(t, refdb.Change{Ref: session("one"), Old: ids[2], New: ids[2]}, refdb.Change{Ref: session("two"), New: two[1]})
	if len(got) != 2 || !got[0].Status.OK() || !got[1].Status.OK() {
		t.Errorf("push: %v", got)
	}
	if sent := pushes(t, log); len(sent) != 2 {
		t.Errorf("%d pushes: %q", len(sent), sent)
	}
}
