package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// link appends messages to a session, each with a link to a version.
func link(tb testing.TB, s *gitstore.Store, name string, versions ...string) domarkx.Info {
	tb.Helper()
	var info domarkx.Info
	update(tb, s, func(tx *gitstore.Tx) error {
		ctx := context.Background()
		tip, err := tx.Tip(ctx, name)
		if err != nil {
			return err
		}
		var after domarkx.ID
		if last, err := tx.Entry(ctx, tip.ID, tip.Messages-1); err == nil {
			after = last.ID
		}
		e := entry(tip.Messages, after, "linked")
		e.ID[15] ^= byte(len(name)) // different messages in other sessions
		e.Link = versions[len(versions)-1]
		info, err = tx.Append(ctx, commitOf(&domarkx.State{Thread: domarkx.Thread{Live: []domarkx.Entry{e}}}, append([]string{tip.ID}, versions...)...))
		if err != nil {
			return err
		}
		return tx.Set(ctx, name, info.ID)
	})
	return info
}

// TestLinkedVersionsAreKept checks that a linked version exists as long as the session exists, even if nothing else refers to it.
func TestLinkedVersionsAreKept(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	base := save(t, s, "left", conversation(2))
	update(t, s, func(tx *gitstore.Tx) error { return tx.Set(ctx, "right", base.ID) })
	l1 := version(t, s, dir, "left", map[string]string{"code": "l1"})
	l2 := version(t, s, dir, "left", map[string]string{"code": "l2"})
	r1 := version(t, s, dir, "right", map[string]string{"code": "r1"})
	link(t, s, "left", l1.ID)
	left, right := link(t, s, "left", l2.ID), link(t, s, "right", r1.ID)
	if left.Number != 3 || right.Number != 2 {
		t.Errorf("numbers %d, %d", left.Number, right.Number)
	}
	var merged domarkx.Info
	update(t, s, func(tx *gitstore.Tx) error {
		a, err := tx.Load(ctx, left.ID)
		if err != nil {
			return err
		}
		b, err := tx.Load(ctx, right.ID)
		if err != nil {
			return err
		}
		if merged, err = tx.Commit(ctx, commitOf(domarkx.MergeStates(a, b), left.ID, right.ID)); err != nil {
			return err
		}
		return errors.Join(tx.Set(ctx, "left", merged.ID), tx.ToTrash(ctx, "right"), tx.WorkspaceToTrash(ctx, "left"), tx.WorkspaceToTrash(ctx, "right"))
	})
	if merged.Number != 4 || merged.Messages != 5 {
		t.Errorf("%+v", merged)
	}
	for _, ref := range strings.Fields(git(t, dir, "for-each-ref", "--format=%(refname)", "refs/domarkx-trash/")) {
		git(t, dir, "update-ref", "-d", ref)
	}
	git(t, dir, "gc", "-q", "--prune=now")
	s = open(t, dir)
	linked, err := s.Linked(ctx, merged.ID, []string{l1.ID, l2.ID, r1.ID, base.ID, strings.Repeat("1", 40)})
	if err != nil || len(linked) != 3 || !linked[l1.ID] || !linked[l2.ID] || !linked[r1.ID] {
		t.Errorf("%v, %v", linked, err)
	}
	for _, v := range []domarkx.Version{l1, l2, r1} {
		if got, err := s.Version(ctx, v.ID); err != nil || got.ID != v.ID {
			t.Errorf("%+v, %v", got, err)
		}
	}
	if ids, err := s.LinkedVersions(ctx, left.ID); err != nil || !slices.Equal(ids, []string{l2.ID}) {
		t.Errorf("%v, %v", ids, err)
	}
	if ok, err := s.IsAncestor(ctx, base.ID, merged.ID); err != nil || !ok {
		t.Errorf("%v, %v", ok, err)
	}
	var history []string
	for info, err := range s.History(ctx, merged.ID) {
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, fmt.Sprint(info.Number))
	}
	if got := strings.Join(history, " "); got != "4 3 2 1" {
		t.Errorf("history %s", got)
	}
	if found, err := s.Fsck(ctx, nil); err != nil || len(found) != 0 {
		t.Errorf("Fsck: %+v, %v", found, err)
	}
	ids, err := s.NewVersions(ctx, []string{merged.ID}, []string{l1.ID})
	slices.Sort(ids)
	want := []string{l2.ID, r1.ID}
	slices.Sort(want)
	if err != nil || !slices.Equal(ids, want) {
		t.Errorf("new versions: %v, %v, want %v", ids, err, want)
	}
}

func TestLinksThatDoNotCount(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	private := version(t, s, dir, "private", map[string]string{"code": "x"})
	for _, target := range []string{private.ID, strings.Repeat("1", 40)} {
		state := conversation(3)
		state.Thread.Live[1].Link = target
		tip := save(t, s, "s", state)
		if linked, err := s.Linked(ctx, tip.ID, []string{target}); err != nil || len(linked) != 0 {
			t.Errorf("%v, %v", linked, err)
		}
		found, err := s.Fsck(ctx, nil)
		if err != nil || len(found) == 0 || !strings.Contains(found[len(found)-1].What, "not a parent") {
			t.Errorf("Fsck: %+v, %v", found, err)
		}
	}
}

// TestManyLinks checks that loading the links of all messages of a long session reads its history only once.
func TestManyLinks(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	save(t, s, "s", conversation(1))
	var versions []domarkx.Version
	var tip domarkx.Info
	for i := range gittest.Rounds(10, 60) {
		versions = append(versions, version(t, s, dir, "w", map[string]string{"code": fmt.Sprint(i)}))
		tip = link(t, s, "s", versions[i].ID)
	}
	first := save(t, s, "other", conversation(1))
	for _, s := range []*gitstore.Store{s, open(t, dir)} {
		for _, v := range versions {
			for snapshot, want := range map[string]int{tip.ID: 1, first.ID: 0} {
				if linked, err := s.Linked(ctx, snapshot, []string{v.ID}); err != nil || len(linked) != want {
					t.Errorf("%v, %v, want %d", linked, err, want)
				}
			}
		}
	}
	canceled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := open(t, dir).Linked(canceled, tip.ID, []string{versions[0].ID}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
