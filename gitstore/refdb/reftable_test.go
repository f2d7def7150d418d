package refdb_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// TestReftableLogs moves references, and removes values and reasons from their reflogs.
func TestReftableLogs(t *testing.T) {
	dir := initReftable(t)
	refs := open(t, dir)
	ids := gittest.Commits(t, dir, 5)
	for _, name := range []string{session("a"), session("b"), session("c")} {
		for i, id := range ids {
			old := ""
			if i > 0 {
				old = ids[i-1]
			}
			if err := update(t, refs, refdb.Change{Ref: name, Old: old, New: id}); err != nil {
				t.Fatal(err)
			}
		}
	}
	newestFirst := slices.Clone(ids)
	slices.Reverse(newestFirst)
	values := func(name string) ([]string, bool) {
		t.Helper()
		got, created, err := refs.Reflog(name)
		if err != nil {
			t.Fatal(err)
		}
		return got, created
	}
	if got, created := values(session("a")); !slices.Equal(got, newestFirst) || !created {
		t.Errorf("values %q, created %v", got, created)
	}
	if got, created := values(session("none")); len(got) > 0 || created {
		t.Errorf("without a reflog: %q, %v", got, created)
	}
	release, err := refs.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if err := refs.Forget(session("a")); err != nil {
		t.Fatal(err)
	}
	if got, created := values(session("a")); len(got) > 0 {
		t.Errorf("after Forget: %q, %v", got, created)
	}
	gone := func(id string) bool { return id == ids[1] || id == ids[2] }
	if err := refs.ForgetValues(gone, "refs/domarkx/sessions/"); err != nil {
		t.Fatal(err)
	}
	if got, _ := values(session("b")); !slices.Equal(got, []string{ids[4], ids[3], ids[0]}) {
		t.Errorf("after ForgetValues: %q", got)
	}
	if err := refs.RewriteReasons(func(reason string) (string, bool) { return "", strings.Contains(reason, "test") }); err != nil {
		t.Fatal(err)
	}
	if got, _ := values(session("c")); len(got) > 0 {
		t.Errorf("lines with a reason that is not to be kept: %q", got)
	}
	for _, name := range []string{session("a"), session("b"), session("c")} {
		if id, ok, err := refs.Read(name); id != ids[4] || !ok || err != nil {
			t.Errorf("%s is at %s, %v, %v", name, id, ok, err)
		}
	}
	// The tables are written anew, so that no file has the lines.
	found := 0
	err = filepath.WalkDir(filepath.Join(dir, ".git", "reftable"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) == "tables.list" {
			return err
		}
		found++
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte("test")) {
			t.Errorf("%s has a reason", path)
		}
		return err
	})
	if err != nil || found != 1 {
		t.Errorf("%d tables, %v", found, err)
	}
}

// TestReftableDamage reads references that no session can have, and damaged tables.
func TestReftableDamage(t *testing.T) {
	dir := initReftable(t)
	refs := open(t, dir)
	ids := gittest.Commits(t, dir, 1)
	if err := update(t, refs, refdb.Change{Ref: session("a"), New: ids[0]}); err != nil {
		t.Fatal(err)
	}
	gittest.Run(t, dir, "symbolic-ref", session("link"), session("a"))
	if _, _, err := refs.Read(session("link")); !errors.Is(err, domarkx.ErrUnsupported) {
		t.Errorf("a symbolic reference: %v", err)
	}
	damaged, err := refs.Damaged("refs/domarkx/")
	if list, listErr := refs.List("refs/domarkx/"); len(list) != 1 || len(damaged) != 1 || err != nil || listErr != nil {
		t.Errorf("%v, damaged %v, %v, %v", list, damaged, err, listErr)
	}
	tables, err := refs.SyncTables(nil)
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %q, %v", tables, err)
	}
	path := filepath.Join(dir, ".git", filepath.FromSlash(tables[len(tables)-1]))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	list := filepath.Join(dir, ".git", "reftable", "tables.list")
	names, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	changed := slices.Clone(whole)
	changed[len(changed)-20]++
	for name, damage := range map[string]func() error{
		"a truncated table":      func() error { return os.Truncate(path, 30) },
		"a table without end":    func() error { return os.Truncate(path, int64(len(whole)-5)) },
		"an empty table":         func() error { return os.Truncate(path, 0) },
		"a file of another kind": func() error { return os.WriteFile(path, bytes.Repeat([]byte("text "), 100), 0o666) },
		"a changed footer":       func() error { return os.WriteFile(path, changed, 0o666) },
		"a missing table":        func() error { return os.Remove(path) },
		"no list":                func() error { return os.Remove(list) },
		"a foreign list":         func() error { return os.WriteFile(list, []byte("../../HEAD\n"), 0o666) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if list, err := open(t, dir).List("refs/domarkx/"); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %v, %v", name, list, err)
		}
		if id, ok, err := open(t, dir).Read(session("a")); !errors.Is(err, domarkx.ErrCorrupt) {
			t.Errorf("%s: %q, %v, %v", name, id, ok, err)
		}
		if err := errors.Join(os.WriteFile(path, whole, 0o666), os.WriteFile(list, names, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if id, ok, err := open(t, dir).Read(session("a")); id != ids[0] || !ok || err != nil {
		t.Errorf("whole again: %q, %v, %v", id, ok, err)
	}
}

// TestReftableLock changes references although a dead git has left the lock of the tables.
func TestReftableLock(t *testing.T) {
	dir := initReftable(t)
	refs := open(t, dir)
	refdb.SetPatience(refs)
	ids := gittest.Commits(t, dir, 2)
	if err := update(t, refs, refdb.Change{Ref: session("a"), New: ids[0]}); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(dir, ".git", "reftable", "tables.list.lock")
	if err := os.WriteFile(lock, []byte("half a l"), 0o666); err != nil {
		t.Fatal(err)
	}
	hour := time.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, hour, hour); err != nil {
		t.Fatal(err)
	}
	if err := update(t, refs, refdb.Change{Ref: session("a"), Old: ids[0], New: ids[1]}); err != nil {
		t.Error(err)
	}
	none(t, filepath.Join(dir, ".git"))
}

// TestReftableWritten reads what the last change wrote in another process, and what another git has written since.
func TestReftableWritten(t *testing.T) {
	dir := initReftable(t)
	ids := gittest.Commits(t, dir, 3)
	synced := func(refs *refdb.Refs, known []string) []string {
		t.Helper()
		release, err := refs.Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		lines, err := refs.SyncTables(known)
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	at := func(refs *refdb.Refs, want string) {
		t.Helper()
		if id, ok, err := refs.Read(session("a")); id != want || !ok || err != nil {
			t.Errorf("%q, %v, %v, want %s", id, ok, err, want)
		}
	}
	refs := open(t, dir)
	known := synced(refs, nil)
	if err := update(t, refs, refdb.Change{Ref: session("a"), New: ids[0]}); err != nil {
		t.Fatal(err)
	}
	known = synced(refs, known)
	line := ids[0] + " " + session("a")
	if known[len(known)-1] != line {
		t.Fatalf("after the change: %q", known)
	}
	forged := append(slices.Clone(known[:len(known)-1]), ids[1]+" "+session("a"))
	next := open(t, dir)
	synced(next, append([]string{"pack-a.pack"}, forged...))
	at(next, ids[1]) // it was not read again
	if err := update(t, next, refdb.Change{Ref: session("a"), Old: ids[1], New: ids[2]}); err == nil {
		t.Error("changed from a value that it does not have")
	}
	gittest.Run(t, dir, "update-ref", "refs/heads/other", ids[0])
	next = open(t, dir)
	if lines := synced(next, known); slices.Contains(lines, line) {
		t.Errorf("after a change by another git: %q", lines)
	}
	at(next, ids[0])
	known = synced(next, nil)
	hook := filepath.Join(dir, ".git", "hooks", "reference-transaction")
	script := "#!/bin/sh\n[ \"$1\" = committed ] && exec env GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=/dev/null git update-ref " + session("a") + " " + ids[2] + "\ntrue\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(hook), 0o777), os.WriteFile(hook, []byte(script), 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := update(t, next, refdb.Change{Ref: session("a"), Old: ids[0], New: ids[1]}); err != nil {
		t.Fatal(err)
	}
	at(next, ids[2])
	if lines := synced(next, known); strings.Contains(strings.Join(lines, "\n"), session("a")) {
		t.Errorf("another git has changed it since: %q", lines)
	}
}
