package gitstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/codec/codectest"
	"github.com/domarkx/domarkx/gitstore/gitcmd/gittest"
)

// storedEqual compares a state with one that was read back: contents by their ids.
var storedEqual = cmp.Options{cmpopts.EquateEmpty(), cmpopts.IgnoreFields(domarkx.Blob{}, "Data")}

func drawState(t *rapid.T, most int) *domarkx.State {
	state := &domarkx.State{Thread: *codectest.DrawThread(t, most)}
	for i := range rapid.IntRange(1, 3).Draw(t, "headers") {
		h := header()
		h.Rev = domarkx.Rev{byte(i), rapid.Byte().Draw(t, "rev")}
		if rapid.Bool().Draw(t, "past") {
			h.Past = []domarkx.Rev{{0xf0}, {0xf1}}
		}
		if rapid.Bool().Draw(t, "preamble") {
			h.Layout = domarkx.Layout{Verbatim: true, Size: 5, Tail: domarkx.TailBlank, Fence: "~~~"}
			h.Source = domarkx.Blob{Data: []byte(rapid.String().Draw(t, "preamble bytes"))}
		}
		state.Headers = append(state.Headers, h)
	}
	return state
}

func TestLoadGivesWhatCommitTook(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	var tip string
	gittest.Checks(t, 30)
	rapid.Check(t, func(rt *rapid.T) {
		state := drawState(rt, 60)
		inTx := &domarkx.State{}
		update(t, s, func(tx *gitstore.Tx) error {
			var parents []string
			if tip != "" {
				parents = []string{tip}
			}
			info, err := tx.Commit(ctx, commitOf(state, parents...))
			if err != nil {
				return err
			}
			tip = info.ID
			if inTx, err = tx.Load(ctx, tip); err != nil {
				return err
			}
			return tx.Set(ctx, "s", tip)
		})
		if diff := cmp.Diff(state, inTx, storedEqual); diff != "" {
			rt.Fatalf("within the update: %s", diff)
		}
		loaded, err := s.Load(ctx, tip)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(state, loaded, storedEqual); diff != "" {
			rt.Fatal(diff)
		}
		roles, err := s.Roles(ctx, tip)
		if err != nil {
			rt.Fatal(err)
		}
		for k, want := range state.Thread.Live {
			got, err := s.Entry(ctx, tip, k)
			if diff := cmp.Diff(want, got, storedEqual); diff != "" || err != nil {
				rt.Fatalf("message %d: %v %s", k, err, diff)
			}
			data, err := s.Read(ctx, got.JSON)
			if string(data) != string(want.JSON.Data) || err != nil || roles[k] != want.Role {
				rt.Fatalf("message %d: %q, %v, %s", k, data, err, roles[k])
			}
		}
	})
	git(t, dir, "fsck", "--strict")
}

func TestAppendMakesTheTreesOfCommit(t *testing.T) {
	s, _ := newStore(t)
	ctx := context.Background()
	enough := errors.New("enough")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(500, 540)).Draw(rt, "messages")
		more := rapid.IntRange(0, 40).Draw(rt, "more")
		replaced := rapid.IntRange(0, min(n, more)).Draw(rt, "replaced")
		whole := conversation(n + more)
		start := &domarkx.State{Headers: whole.Headers, Thread: domarkx.Thread{Live: slices.Clone(whole.Thread.Live[:n])}}
		for k := n - replaced; k < n; k++ {
			start.Thread.Live[k].JSON = domarkx.Blob{Data: fmt.Appendf(nil, "{\n  \"role\": \"user\",\n  \"content\": [],\n  \"old\": %d\n}\n", k)}
		}
		var appended, committed domarkx.Info
		err := s.Update(ctx, "test", func(tx *gitstore.Tx) error {
			first, err := tx.Commit(ctx, commitOf(start))
			if err != nil {
				return err
			}
			c := commitOf(&domarkx.State{Thread: domarkx.Thread{Live: slices.Clone(whole.Thread.Live[n-replaced:])}}, first.ID)
			c.Replaced = replaced
			if appended, err = tx.Append(ctx, c); err != nil {
				return err
			}
			c.State = whole
			if committed, err = tx.Commit(ctx, c); err != nil {
				return err
			}
			return enough
		})
		if !errors.Is(err, enough) {
			rt.Fatal(err)
		}
		if appended.ID != committed.ID {
			rt.Fatalf("%d, of which %d are replaced, and %d more: appending made %+v, committing %+v", n, replaced, more, appended, committed)
		}
	})
}

func TestAppendWithAnotherHeader(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	state := conversation(20)
	state.Thread.Dead = []domarkx.Tombstone{{ID: mustID(t, id1), Past: []domarkx.Rev{{}}}}
	tip := save(t, s, "s", state)
	h := header()
	h.JSON = domarkx.Blob{Data: []byte("{\n  \"version\": \"1.0\",\n  \"metadata\": {},\n  \"execution_config\": {\n    \"engine\": \"x\"\n  }\n}\n")}
	h.Rev = domarkx.Rev{9}
	more := entry(20, state.Thread.Live[19].ID, "message 20")
	update(t, s, func(tx *gitstore.Tx) error {
		info, err := tx.Append(ctx, commitOf(&domarkx.State{Headers: []domarkx.HeaderEntry{h}, Thread: domarkx.Thread{Live: []domarkx.Entry{more}}}, tip.ID))
		if err != nil {
			return err
		}
		tip = info
		return tx.Set(ctx, "s", info.ID)
	})
	got, err := s.Load(ctx, tip.ID)
	if err != nil || len(got.Thread.Live) != 21 || len(got.Thread.Dead) != 1 || len(got.Headers) != 1 || got.Headers[0].Rev != h.Rev {
		t.Errorf("%+v, %v", got, err)
	}
	last, err := s.Entry(ctx, tip.ID, tip.Messages-1)
	if err != nil || last.ID != more.ID || last.After != state.Thread.Live[19].ID {
		t.Errorf("the last message is %+v, %v", last, err)
	}
	if dead, err := s.Tombstones(ctx, tip.ID); err != nil || len(dead) != 1 {
		t.Errorf("%v, %v", dead, err)
	}
	git(t, dir, "fsck", "--strict")
}

// TestEditOfALongSessionIsSmall checks that an edit writes only the trees on the path to the message.
func TestEditOfALongSessionIsSmall(t *testing.T) {
	s, dir := newStore(t)
	ctx := context.Background()
	tip := save(t, s, "s", conversation(10000))
	before := storedObjects(t, dir)
	state, err := s.Load(ctx, tip.ID)
	if err != nil {
		t.Fatal(err)
	}
	edited := entry(5000, domarkx.ID{}, "another text")
	state.Thread.Live[5000].JSON, state.Thread.Live[5000].Rev = edited.JSON, domarkx.Rev{1}
	save(t, s, "s", state)
	if written := len(storedObjects(t, dir)) - len(before); written != 8 {
		t.Errorf("%d objects were written, want 8", written)
	}
}
