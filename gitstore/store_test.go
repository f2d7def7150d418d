package gitstore_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// golden compares with a file of testdata; UPDATE_GOLDEN=1 writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
}

func TestGoldenSnapshot(t *testing.T) {
	s, dir := newStore(t)
	state := conversation(18)
	state.Thread.Dead = []domarkx.Tombstone{{ID: mustID(t, id1), Past: []domarkx.Rev{{}}}}
	state.Thread.Live[3].Layout.Verbatim = true
	state.Thread.Live[3].Source = domarkx.Blob{Data: []byte("## assistant\n\nmessage 3  \n")}
	state.Headers[0].Layout = domarkx.Layout{Verbatim: true, Size: 4, Tail: domarkx.TailBlank}
	state.Headers[0].Source = domarkx.Blob{Data: []byte("# T\n")}
	other := header()
	other.Rev = domarkx.Rev{1}
	state.Headers = append(state.Headers, other)
	ctx := context.Background()
	var info domarkx.Info
	update(t, s, func(tx *gitstore.Tx) (err error) {
		if state.Headers[0].Includes, err = tx.StoreIncludes(ctx, []domarkx.Include{{Path: "a/.git", Data: []byte("x")}, {Path: "big", Data: []byte("y")}}); err != nil {
			return err
		}
		if state.Headers[0].Origin, err = storeOrigin(ctx, tx, "json", []byte("{}\n")); err != nil {
			return err
		}
		if info, err = tx.Commit(ctx, commitOf(state)); err != nil {
			return err
		}
		return tx.Set(ctx, "golden", info.ID)
	})
	var listing strings.Builder
	listing.WriteString(git(t, dir, "cat-file", "commit", "refs/domarkx/sessions/golden") + "\n\n")
	listing.WriteString(git(t, dir, "ls-tree", "-r", "-t", info.ID) + "\n")
	for _, path := range []string{"snapshot.json", "header", "conversation/0000/00/00/03-assistant.json", "conversation/0000/00/00/entries",
		"conversation/0000/00/01/entries", "deleted/08", "source/original", "source/snapshot"} {
		listing.WriteString("\n" + path + ":\n" + git(t, dir, "cat-file", "blob", info.ID+":"+path) + "\n")
	}
	golden(t, "snapshot.golden", listing.String())
	git(t, dir, "fsck", "--strict")
	if out := git(t, dir, "log", "--format=%s|%an|%ce|%(trailers:key=Domarkx-Number,valueonly)", info.ID); out != "test|A U Thor|author@example.com|1\n" {
		t.Errorf("git log says %q", out)
	}
}

func TestNamesInUpdates(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	first := save(t, s, "plan", conversation(1))
	for _, tt := range []struct {
		name string
		want error
	}{{"Plan", domarkx.ErrExists}, {"plan/x", domarkx.ErrExists}, {"a b", domarkx.ErrInvalid}, {"pläne/日本", nil}} {
		err := s.Update(ctx, "test", func(tx *gitstore.Tx) error { return tx.Set(ctx, tt.name, first.ID) })
		if !errors.Is(err, tt.want) {
			t.Errorf("%q: %v, want %v", tt.name, err, tt.want)
		}
	}
	second := save(t, s, "plan", conversation(2))
	err := s.Update(ctx, "test", func(tx *gitstore.Tx) error { return tx.Set(ctx, "plan", first.ID) })
	if !errors.Is(err, domarkx.ErrConflict) {
		t.Errorf("moving back: %v, want a conflict", err)
	}
	update(t, s, func(tx *gitstore.Tx) error { return tx.Rename(ctx, "plan", "PLAN") })
	update(t, s, func(tx *gitstore.Tx) error { return tx.Rename(ctx, "PLAN", "old/plan") })
	if tip, err := s.Tip(ctx, "old/plan"); err != nil || tip.ID != second.ID || tip.Name != "old/plan" {
		t.Errorf("%+v, %v", tip, err)
	}
	if err := s.Update(ctx, "test", func(tx *gitstore.Tx) error { return tx.Rename(ctx, "old/plan", "pläne") }); !errors.Is(err, domarkx.ErrExists) {
		t.Errorf("%v, want exists", err)
	}
	if err := s.Update(ctx, "test", func(tx *gitstore.Tx) error { return tx.Rename(ctx, "gone", "x") }); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("%v, want not found", err)
	}
	if got := git(t, dir, "for-each-ref", "--format=%(refname)"); got != "refs/domarkx/sessions/old/plan\nrefs/domarkx/sessions/pläne/日本" {
		t.Errorf("refs are\n%s", got)
	}
}

// TestRenameAfterSet checks that one update can move a session and then give it the name of its own directory.
func TestRenameAfterSet(t *testing.T) {
	s, _ := newStore(t)
	ctx := context.Background()
	first := save(t, s, "plan/first", conversation(1))
	update(t, s, func(tx *gitstore.Tx) error {
		second, err := tx.Commit(ctx, commitOf(conversation(2), first.ID))
		if err != nil {
			return err
		}
		return errors.Join(tx.Set(ctx, "plan/first", second.ID), tx.Rename(ctx, "plan/first", "plan"))
	})
	if all, err := s.List(ctx); err != nil || len(all) != 1 || all[0].Name != "plan" || all[0].Number != 2 {
		t.Errorf("the sessions are %+v, %v", all, err)
	}
}

// TestGCRemovesTemporaryFiles checks that only old temporary files of this program are removed.
func TestGCRemovesTemporaryFiles(t *testing.T) {
	s, _ := newStore(t)
	save(t, s, "plan", conversation(1))
	old := time.Now().Add(-25 * time.Hour)
	gone := []string{"list-cache.1.tmp", "conflict-cache.2.tmp", "synced.3.tmp", ".new-4"}
	for _, name := range append(gone, "notes", "list-cache.5.tmp") {
		path := filepath.Join(s.StateDir(), name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if name == "list-cache.5.tmp" {
			continue
		}
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := s.GC(context.Background()); err != nil || len(found) != len(gone) {
		t.Errorf("gc reports %+v, %v", found, err)
	}
	for _, name := range gone {
		if _, err := os.Lstat(filepath.Join(s.StateDir(), name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", name, err)
		}
	}
	for _, name := range []string{"notes", "list-cache.5.tmp"} {
		if _, err := os.Lstat(filepath.Join(s.StateDir(), name)); err != nil {
			t.Error(err)
		}
	}
}

func TestRenameIntoAndOutOfADirectoryOfItself(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	tip := save(t, s, "plan", conversation(1))
	for _, step := range [][2]string{{"plan", "plan/first"}, {"plan/first", "plan"}} {
		update(t, s, func(tx *gitstore.Tx) error { return tx.Rename(ctx, step[0], step[1]) })
		want := tip.ID + " refs/domarkx/sessions/" + step[1]
		if got := git(t, dir, "for-each-ref", "--format=%(objectname) %(refname)"); got != want {
			t.Errorf("refs are\n%s, want\n%s", got, want)
		}
	}
}

func TestTrash(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	remove := func(name string) { update(t, s, func(tx *gitstore.Tx) error { return tx.ToTrash(ctx, name) }) }
	first := save(t, s, "a", conversation(1))
	remove("a")
	below := save(t, s, "a/b", conversation(2))
	remove("a/b")
	second := save(t, s, "a", conversation(3))
	remove("a")
	ids, err := s.Trashed(refname.Sessions, "a")
	if !slices.Equal(ids, []string{first.ID, second.ID}) || err != nil {
		t.Errorf("in the trash are %v, %v", ids, err)
	}
	removed, err := s.Trash(ctx)
	if err != nil || len(removed) != 3 || removed[0].ID != first.ID || removed[0].Name != "a" || removed[2].Name != "a/b" || removed[0].At.IsZero() {
		t.Errorf("the trash is %+v, %v", removed, err)
	}
	if list, err := s.List(ctx); len(list) != 0 || err != nil {
		t.Errorf("sessions are %v, %v", list, err)
	}
	update(t, s, func(tx *gitstore.Tx) error {
		info, err := tx.FromTrash(ctx, "a")
		if info.ID != second.ID || info.Name != "a" {
			t.Errorf("restored %+v", info)
		}
		return err
	})
	err = s.Update(ctx, "test", func(tx *gitstore.Tx) error { _, err := tx.FromTrash(ctx, "a"); return err })
	if !errors.Is(err, domarkx.ErrExists) {
		t.Errorf("restoring over a session: %v", err)
	}
	err = s.Update(ctx, "test", func(tx *gitstore.Tx) error { _, err := tx.FromTrash(ctx, "none"); return err })
	if !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("restoring nothing: %v", err)
	}
	git(t, dir, "update-ref", "refs/domarkx-trash/sessions/old@20010101T000000Z", below.ID)
	git(t, dir, "update-ref", "refs/domarkx-trash/sessions/strange", below.ID)
	found, err := s.GC(ctx)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].What, "old") {
		t.Errorf("gc: %+v, %v", found, err)
	}
	if got := strings.Count(git(t, dir, "for-each-ref", "refs/domarkx-trash"), "\n") + 1; got != 3 {
		t.Errorf("%d refs are left in the trash, want 3", got)
	}
	git(t, dir, "update-ref", "-d", "refs/domarkx-trash/sessions/strange")
	git(t, dir, "config", "gc.reflogExpireUnreachable", "never")
	git(t, dir, "update-ref", "refs/domarkx-trash/sessions/old@20010101T000000Z", below.ID)
	if found, err := open(t, dir).GC(ctx); err != nil || len(found) != 0 {
		t.Errorf("gc that keeps for ever: %+v, %v", found, err)
	}
}

func TestFailedUpdateLeavesNothing(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	wrong := errors.New("wrong")
	err := s.Update(ctx, "test", func(tx *gitstore.Tx) error {
		info, err := tx.Commit(ctx, commitOf(conversation(20)))
		if err != nil {
			return err
		}
		if err := tx.Set(ctx, "s", info.ID); err != nil {
			return err
		}
		return wrong
	})
	if !errors.Is(err, wrong) {
		t.Errorf("%v, want the function's error", err)
	}
	if got := git(t, dir, "count-objects"); got != "0 objects, 0 kilobytes" {
		t.Error(got)
	}
	for name, state := range map[string]*domarkx.State{
		"no header": {},
		"headers in disorder": {Headers: func() []domarkx.HeaderEntry {
			a, b := header(), header()
			a.Rev = domarkx.Rev{2}
			return []domarkx.HeaderEntry{a, b}
		}()},
		"no content":            {Headers: []domarkx.HeaderEntry{header()}, Thread: domarkx.Thread{Live: []domarkx.Entry{{ID: domarkx.ID{1}, Role: "user"}}}},
		"tombstones in reverse": {Headers: []domarkx.HeaderEntry{header()}, Thread: domarkx.Thread{Dead: []domarkx.Tombstone{{ID: domarkx.ID{2}}, {ID: domarkx.ID{1}}}}},
	} {
		err := s.Update(ctx, "test", func(tx *gitstore.Tx) error { _, err := tx.Commit(ctx, commitOf(state)); return err })
		if !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("%s: %v, want invalid", name, err)
		}
	}
}

func TestPlainGitMovesTheRef(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	first := save(t, s, "s", conversation(1))
	second := save(t, s, "s", conversation(2))
	err := s.Update(ctx, "test", func(tx *gitstore.Tx) error {
		tip, err := tx.Tip(ctx, "s")
		if err != nil {
			return err
		}
		git(t, dir, "update-ref", "refs/domarkx/sessions/s", first.ID)
		next, err := tx.Commit(ctx, commitOf(conversation(3), tip.ID))
		if err != nil {
			return err
		}
		return tx.Set(ctx, "s", next.ID)
	})
	if !errors.Is(err, domarkx.ErrConflict) {
		t.Errorf("%v, want a conflict", err)
	}
	if tip, err := s.Tip(ctx, "s"); tip.ID != first.ID || err != nil {
		t.Errorf("the tip is %s, %v, want what git said: %s (not %s)", tip.ID, err, first.ID, second.ID)
	}
}

func TestUnknownFormat(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	info := save(t, s, "s", conversation(1))
	raw := strings.Replace(git(t, dir, "cat-file", "commit", info.ID)+"\n", "Domarkx-Format: 1", "Domarkx-Format: 2", 1)
	file := filepath.Join(t.TempDir(), "commit")
	if err := os.WriteFile(file, []byte(raw), 0o644); err != nil {
		t.Fatal(err)
	}
	later := git(t, dir, "hash-object", "-t", "commit", "-w", file)
	git(t, dir, "update-ref", "refs/domarkx/sessions/s", later)
	save(t, s, "sound", conversation(1))
	if _, err := s.Tip(ctx, "s"); !errors.Is(err, domarkx.ErrUnsupported) || !strings.Contains(err.Error(), `"s"`) {
		t.Errorf("Tip: %v", err)
	}
	if _, err := s.Load(ctx, later); !errors.Is(err, domarkx.ErrUnsupported) {
		t.Errorf("Load: %v", err)
	}
	before := git(t, dir, "count-objects", "-v")
	for name, fn := range map[string]func(*gitstore.Tx) error{
		"Commit": func(tx *gitstore.Tx) error { _, err := tx.Commit(ctx, commitOf(conversation(2), later)); return err },
		"Append": func(tx *gitstore.Tx) error { _, err := tx.Append(ctx, commitOf(conversation(2), later)); return err },
		"Set":    func(tx *gitstore.Tx) error { return tx.Set(ctx, "s", info.ID) },
	} {
		if err := s.Update(ctx, "test", fn); !errors.Is(err, domarkx.ErrUnsupported) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if after := git(t, dir, "count-objects", "-v"); after != before {
		t.Errorf("objects were\n%s, are\n%s", before, after)
	}
	list, err := s.List(ctx)
	if !errors.Is(err, domarkx.ErrUnsupported) || len(list) != 1 || list[0].Name != "sound" {
		t.Errorf("List: %v, %v", list, err)
	}
	found, err := s.Fsck(ctx, nil)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Fix, "newer") {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
}
