package refdb_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
	"github.com/domarkx/domarkx/gitstore/refdb"
)

// none reports lock files and journals in the repository.
func none(t testing.TB, gitDir string) {
	t.Helper()
	err := filepath.WalkDir(gitDir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && (strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, "packed-refs.new") || strings.Contains(path, "domarkx/journal/")) {
			t.Errorf("left behind: %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestUpdate(t *testing.T) { backends(t, testUpdate) }

func testUpdate(t *testing.T, dir string) {
	refs := open(t, dir)
	ids := gittest.Commits(t, dir, 3)
	if err := update(t, refs, refdb.Change{Ref: session("a"), New: ids[0]}, refdb.Change{Ref: session("b"), New: ids[1]}); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		changes []refdb.Change
		want    error
		words   string
	}{
		{"wrong old value", []refdb.Change{{session("a"), ids[1], ids[2]}}, domarkx.ErrConflict, ids[0]},
		{"exists", []refdb.Change{{session("a"), "", ids[2]}}, domarkx.ErrConflict, ids[0]},
		{"missing", []refdb.Change{{session("c"), ids[0], ids[2]}}, domarkx.ErrConflict, "nothing"},
		{"delete missing", []refdb.Change{{session("c"), ids[0], ""}}, domarkx.ErrConflict, "nothing"},
		{"one of two", []refdb.Change{{session("b"), ids[1], ids[2]}, {session("a"), ids[1], ids[2]}}, domarkx.ErrConflict, "a"},
		{"below", []refdb.Change{{session("a/b"), "", ids[2]}}, domarkx.ErrExists, session("a") + `"`},
		{"above", []refdb.Change{{"refs/domarkx/sessions", "", ids[2]}}, domarkx.ErrExists, session("a")},
		{"both new", []refdb.Change{{session("n"), "", ids[2]}, {session("n/m"), "", ids[2]}}, domarkx.ErrExists, session("n/m")},
		{"twice", []refdb.Change{{session("a"), ids[0], ids[1]}, {session("a"), ids[0], ids[2]}}, domarkx.ErrInvalid, "twice"},
		{"outside", []refdb.Change{{"refs/heads/main", "", ids[0]}}, domarkx.ErrInvalid, "refs/heads/main"},
		{"bad id", []refdb.Change{{session("x"), "", "HEAD"}}, domarkx.ErrInvalid, "HEAD"},
		{"bad name", []refdb.Change{{session("x.lock"), "", ids[0]}}, domarkx.ErrInvalid, "x.lock"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			before := gittest.Run(t, dir, "for-each-ref")
			err := update(t, refs, test.changes...)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.words) {
				t.Errorf("Update: %v, want %v with %q", err, test.want, test.words)
			}
			if after := gittest.Run(t, dir, "for-each-ref"); after != before {
				t.Errorf("references changed from\n%s\nto\n%s", before, after)
			}
			none(t, filepath.Join(dir, ".git"))
		})
	}
	if err := update(t, refs, refdb.Change{Ref: session("missing-object"), New: strings.Repeat("1", len(ids[0]))}); err == nil || !strings.Contains(err.Error(), "nonexistent object") {
		t.Errorf("of a missing object: %v", err)
	}
	if err := update(t, refs, refdb.Change{session("a"), ids[0], ""}, refdb.Change{"refs/domarkx-trash/a", "", ids[0]}, refdb.Change{session("b"), ids[1], ids[1]}); err != nil {
		t.Fatal(err)
	}
	want := ids[0] + " commit\trefs/domarkx-trash/a\n" + ids[1] + " commit\trefs/domarkx/sessions/b"
	if got := gittest.Run(t, dir, "for-each-ref", "refs/domarkx-trash", "refs/domarkx"); got != want {
		t.Errorf("references:\n%s\nwant\n%s", got, want)
	}
	if log := gittest.Run(t, dir, "reflog", "show", "refs/domarkx-trash/a"); !strings.Contains(log, "test") {
		t.Errorf("reflog: %q", log)
	}
	none(t, filepath.Join(dir, ".git"))
}

// TestUpdateMakesRoom exchanges a reference and a directory of the same name in one change.
func TestUpdateMakesRoom(t *testing.T) { backends(t, testUpdateMakesRoom) }

func testUpdateMakesRoom(t *testing.T, dir string) {
	refs := open(t, dir)
	ids := gittest.Commits(t, dir, 1)
	if err := update(t, refs, refdb.Change{Ref: session("a"), New: ids[0]}); err != nil {
		t.Fatal(err)
	}
	for _, step := range [][2]string{{"a", "a/b/c"}, {"a/b/c", "a/b"}, {"a/b", "a"}} {
		if err := update(t, refs, refdb.Change{session(step[0]), ids[0], ""}, refdb.Change{session(step[1]), "", ids[0]}); err != nil {
			t.Fatal(err)
		}
		want := ids[0] + " commit\t" + session(step[1])
		if got := gittest.Run(t, dir, "for-each-ref", "refs/domarkx"); got != want {
			t.Errorf("references:\n%s\nwant\n%s", got, want)
		}
		none(t, filepath.Join(dir, ".git"))
	}
}

func TestUpdateMany(t *testing.T) { backends(t, testUpdateMany) }

func testUpdateMany(t *testing.T, dir string) {
	refs := open(t, dir)
	ids := gittest.Commits(t, dir, 2)
	var add, move, remove []refdb.Change
	for i := range 60 {
		name := session(fmt.Sprintf("deep/%d/%d", i%10, i))
		add = append(add, refdb.Change{Ref: name, New: ids[0]})
		move = append(move, refdb.Change{Ref: name, Old: ids[0], New: ids[1]})
		remove = append(remove, refdb.Change{Ref: name, Old: ids[1]})
	}
	for i, changes := range [][]refdb.Change{add, move, remove} {
		if err := update(t, refs, changes...); err != nil {
			t.Fatal(err)
		}
		list, err := refs.List("refs/domarkx/")
		if err != nil || len(list) != []int{60, 60, 0}[i] {
			t.Fatalf("after step %d: %d references, %v", i, len(list), err)
		}
		gittest.Run(t, dir, "pack-refs", "--all")
	}
	none(t, filepath.Join(dir, ".git"))
}

func TestUpdateNeedsLock(t *testing.T) {
	dir := gittest.Init(t)
	refs := open(t, dir)
	id := gittest.Commits(t, dir, 1)[0]
	if err := refs.Update(t.Context(), "", refdb.Change{Ref: session("a"), New: id}); err == nil {
		t.Error("Update without the lock did not fail")
	}
	if _, err := os.Stat(filepath.Join(dir, ".git", "domarkx")); err == nil {
		t.Error("it made the state directory")
	}
}

func TestLockWaits(t *testing.T) {
	dir := gittest.Init(t)
	first, second := open(t, dir), open(t, dir)
	release, err := first.Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := second.Lock(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Lock of a held one: %v, want %v", err, context.DeadlineExceeded)
	}
	got := make(chan error)
	go func() {
		again, err := second.Lock(t.Context())
		if err == nil {
			err = again()
		}
		got <- err
	}()
	if err := release(); err != nil {
		t.Error(err)
	}
	if err := release(); err != nil {
		t.Errorf("releasing twice: %v", err)
	}
	if err := <-got; err != nil {
		t.Errorf("Lock after release: %v", err)
	}
	info, err := os.Stat(filepath.Join(dir, ".git", "domarkx"))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("state directory: %v, %v", info.Mode(), err)
	}
}

// TestRaces lets sixteen goroutines of two openings increment a counter, a chain of references,
// while git packs and updates concurrently.
func TestRaces(t *testing.T) { backends(t, testRaces) }

func testRaces(t *testing.T, dir string) {
	const writers = 8
	rounds := gittest.Rounds(3, 24)
	ids := gittest.Commits(t, dir, 2*writers*rounds+1)
	position := map[string]int{}
	for i, id := range ids {
		position[id] = i
	}
	refs := [2]*refdb.Refs{open(t, dir), open(t, dir)}
	if err := update(t, refs[0], refdb.Change{Ref: session("counter"), New: ids[0]}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var company, work sync.WaitGroup
	for _, args := range [][]string{{"pack-refs", "--all"}, {"gc", "--quiet", "--prune=now"}, {"update-ref", "refs/heads/other", ids[0]}} {
		company.Go(func() {
			for ctx.Err() == nil {
				gittest.Try(dir, args...) // it may fail because of our lock
			}
		})
	}
	company.Go(func() {
		pace := time.NewTicker(time.Millisecond)
		defer pace.Stop()
		for ctx.Err() == nil {
			<-pace.C
			if _, ok, err := refs[0].Read(session("counter")); !ok || err != nil {
				t.Errorf("a reader saw %v, %v", ok, err)
			}
			if list, err := refs[0].List("refs/domarkx/"); len(list) != 1 || err != nil {
				t.Errorf("a reader saw %v, %v", list, err)
			}
		}
	})
	for i := range 2 * writers {
		work.Go(func() {
			for range rounds {
				if err := raise(ctx, refs[i%2], ids, position); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	stop()
	company.Wait()
	if id, _, err := refs[0].Read(session("counter")); err != nil || position[id] != 2*writers*rounds {
		t.Errorf("the counter is at %d, %v, want %d", position[id], err, 2*writers*rounds)
	}
	gittest.Run(t, dir, "fsck", "--strict")
	none(t, filepath.Join(dir, ".git"))
}

func raise(ctx context.Context, refs *refdb.Refs, ids []string, position map[string]int) error {
	release, err := refs.Lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	id, _, err := refs.Read(session("counter"))
	if err != nil {
		return err
	}
	return refs.Update(ctx, "count", refdb.Change{Ref: session("counter"), Old: id, New: ids[position[id]+1]})
}

func TestHook(t *testing.T) {
	dir := gittest.Init(t)
	refs := open(t, dir)
	id := gittest.Commits(t, dir, 1)[0]
	hook := filepath.Join(dir, ".git", "hooks", "reference-transaction")
	if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho not today >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := update(t, refs, refdb.Change{Ref: session("a"), New: id}, refdb.Change{Ref: session("b"), New: id})
	if err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("Update: %v, want the hook's words", err)
	}
	none(t, filepath.Join(dir, ".git"))
}

// TestCancel checks that the end of the context stops a hanging hook.
func TestCancel(t *testing.T) {
	dir := gittest.Init(t)
	refs := open(t, dir)
	id := gittest.Commits(t, dir, 1)[0]
	for _, phase := range []string{"prepared", "committed"} {
		t.Run(phase, func(t *testing.T) {
			started := filepath.Join(t.TempDir(), "started")
			hook := filepath.Join(dir, ".git", "hooks", "reference-transaction")
			if err := os.MkdirAll(filepath.Dir(hook), 0o755); err != nil {
				t.Fatal(err)
			}
			script := fmt.Sprintf("#!/bin/sh\ntest $1 = %s || exit 0\nmkfifo %[2]s.fifo; : > %[2]s; read x < %[2]s.fifo\n", phase, started)
			if err := os.WriteFile(hook, []byte(script), 0o755); err != nil {
				t.Fatal(err)
			}
			release, err := refs.Lock(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				for {
					if _, err := os.Stat(started); err == nil {
						break
					}
				}
				cancel()
			}()
			err = refs.Update(ctx, "test", refdb.Change{Ref: session(phase), New: id}, refdb.Change{Ref: session(phase + "2"), New: id})
			_, there, _ := refs.Read(session(phase))
			if phase == "prepared" && (!errors.Is(err, context.Canceled) || there) {
				t.Errorf("Update: %v, made: %v; want nothing made", err, there)
			}
			if phase == "committed" && (err != nil || !there) {
				t.Errorf("Update: %v, made: %v; want it made", err, there)
			}
			none(t, filepath.Join(dir, ".git"))
		})
	}
}
