package transfer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
)

// TestRenamedSessions renames a session that a remote and another clone have. The old name does not come back.
func TestRenamedSessions(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.Appended("old", "one")
	a.push()
	b.pull()
	if _, err := a.Rename(t.Context(), "old", "new"); err != nil {
		t.Fatal(err)
	}
	expect(t, "pull after a rename", a.pull(), "old removed here")
	if list, err := a.List(t.Context()); err != nil || len(list) != 1 || list[0].Name != "new" {
		t.Errorf("%+v, %v", list, err)
	}
	b.Appended("old", "meanwhile")
	expect(t, "push of the old name", b.push(), "old updated")
	if got := a.pull(); !strings.Contains(got, "old") {
		t.Errorf("pull of what the old name got: %q", got)
	}
	if shown := a.Shown("new"); !strings.Contains(shown, "one") {
		t.Errorf("the renamed session is %q", shown)
	}
	a.push()
	a.Fsck()
}

// TestRemovedThere pulls after sessions were removed on the remote: those that did not change here go to the trash.
func TestRemovedThere(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	for _, name := range []string{"kept", "same", "changed"} {
		a.Appended(name, "one")
	}
	a.push()
	b.pull()
	b.Appended("changed", "mine")
	for _, name := range []string{"same", "changed"} {
		run(t, remote, "update-ref", "-d", "refs/domarkx/sessions/"+name)
	}
	if _, err := b.Fetch(t.Context(), "origin", nil, nil); err != nil { // which remembers the removals for the pull
		t.Fatal(err)
	}
	expect(t, "pull", b.pull(), "changed removed there, kept: it changed here\nkept up to date\nsame removed there, moved to the trash")
	list, err := b.List(t.Context())
	if err != nil || len(list) != 2 || list[0].Name != "changed" || list[1].Name != "kept" {
		t.Errorf("%+v, %v", list, err)
	}
	if _, err := b.Restore(t.Context(), "same"); err != nil {
		t.Errorf("it is not in the trash: %v", err)
	}
	if shown := b.Shown("same"); !strings.Contains(shown, "one") {
		t.Errorf("restored %q", shown)
	}
}

// TestRemovedHere pulls after a session was removed here: it does not come back unless it changed there.
func TestRemovedHere(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.Appended("s", "one")
	a.push()
	b.pull()
	if _, err := b.Remove(t.Context(), "s", nil); err != nil {
		t.Fatal(err)
	}
	expect(t, "pull", b.pull(), "s removed here")
	a.Appended("s", "two")
	a.push()
	if got := b.pull(); !strings.HasPrefix(got, "s ") || strings.Contains(got, "removed here") {
		t.Errorf("pull of a change: %q", got)
	}
	if shown := b.Shown("s"); !strings.Contains(shown, "two") {
		t.Errorf("%q", shown)
	}
}

// TestDamagedRecords pulls where the records of removals are damaged: sessions that should be removed stay.
func TestDamagedRecords(t *testing.T) {
	remote := newRemote(t)
	a, b := newClone(t, remote), newClone(t, remote)
	a.Appended("s", "one")
	a.push()
	b.pull()
	file := filepath.Join(b.Env.StateDir, "removed.json")
	for _, content := range []string{"", "{", "[]", `{"origin": 7}`} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		expect(t, "pull with "+content, b.pull(), "s up to date")
	}
	if err := errors.Join(os.RemoveAll(file), os.Mkdir(file, 0o700)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Pull(t.Context(), transfer.PullRequest{Remote: "origin"}, nil); err == nil || !strings.Contains(err.Error(), "reading the record of sessions removed at remotes") {
		t.Errorf("unreadable: %v", err)
	}
}
