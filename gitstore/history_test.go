package gitstore_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

func TestHistory(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	var ids []string
	for n := range 5 {
		ids = append(ids, save(t, s, "s", conversation(n)).ID)
	}
	var got []string
	for info, err := range s.History(ctx, ids[4]) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, info.ID)
		if info.Number != 6-len(got) || info.Messages != 5-len(got) || info.Subject != "test" || info.Date != testTime.Unix() {
			t.Errorf("%+v", info)
		}
	}
	slices.Reverse(got)
	if diff := cmp.Diff(ids, got); diff != "" {
		t.Error(diff)
	}
	var merge domarkx.Info
	update(t, s, func(tx *gitstore.Tx) (err error) {
		side, err := tx.Commit(ctx, commitOf(conversation(9), ids[1]))
		if err != nil {
			return err
		}
		if merge, err = tx.Commit(ctx, commitOf(conversation(9), ids[4], side.ID)); err != nil {
			return err
		}
		return tx.Set(ctx, "s", merge.ID)
	})
	if merge.Number != 6 {
		t.Errorf("the merge has number %d", merge.Number)
	}
	var numbers []int
	for info, err := range s.Ancestors(ctx, merge.ID) {
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, info.Number)
	}
	if !slices.Equal(numbers, []int{6, 5, 4, 3, 3, 2, 1}) {
		t.Errorf("ancestors have numbers %v", numbers)
	}
	for _, tt := range []struct {
		a, b string
		want bool
	}{{ids[0], merge.ID, true}, {merge.ID, merge.ID, true}, {ids[4], ids[3], false}, {merge.ID, ids[0], false}, {ids[3], ids[4], true}} {
		if got, err := s.IsAncestor(ctx, tt.a, tt.b); got != tt.want || err != nil {
			t.Errorf("%s ancestor of %s: %v, %v", tt.a, tt.b, got, err)
		}
	}
	for _, tt := range []struct {
		prefix string
		want   error
	}{{ids[2], nil}, {strings.ToUpper(ids[2][:12]), nil}, {"123", domarkx.ErrInvalid}, {"xyzu", domarkx.ErrInvalid}, {strings.Repeat("0", 40), domarkx.ErrNotFound}} {
		info, err := s.Find(ctx, merge.ID, tt.prefix)
		if !errors.Is(err, tt.want) || err == nil && info.ID != ids[2] {
			t.Errorf("%s: %s, %v, want %v", tt.prefix, info.ID, err, tt.want)
		}
	}
	if _, err := s.Find(ctx, ids[1], ids[2][:12]); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("found a snapshot that is no ancestor: %v", err)
	}
	clone := t.TempDir()
	git(t, clone, "init", "-q", "--bare")
	git(t, clone, "fetch", "-q", "--depth=2", "file://"+dir, "refs/domarkx/sessions/s:refs/domarkx/sessions/s")
	shallow := open(t, clone)
	count := 0
	for _, err := range shallow.Ancestors(ctx, merge.ID) {
		if err != nil {
			t.Fatal(err)
		}
		count++
	}
	if _, err := shallow.Load(ctx, merge.ID); err != nil || count != 3 {
		t.Errorf("a shallow clone has %d snapshots, %v", count, err)
	}
	if again := save(t, shallow, "s", conversation(10)); again.Number != 7 {
		t.Errorf("the next snapshot has number %d", again.Number)
	}
	git(t, clone, "fsck", "--strict")
}

func TestTipHints(t *testing.T) {
	s, _ := newStore(t)
	save(t, s, "work/planning", conversation(1))
	for _, name := range []string{"work/planing", "planning", "WORK/planning"} {
		_, err := s.Tip(context.Background(), name)
		if !errors.Is(err, domarkx.ErrNotFound) || !strings.Contains(err.Error(), `"work/planning"`) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := s.Tip(context.Background(), "other"); !errors.Is(err, domarkx.ErrNotFound) || strings.Contains(err.Error(), "planning") {
		t.Errorf("%v", err)
	}
}
