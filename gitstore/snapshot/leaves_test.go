package snapshot_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format/domarkx"
)

func collect[T any](t tb, seq iter.Seq2[T, error]) (list []T) {
	t.Helper()
	for v, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	return list
}

// TestReadParts checks each way to read a part of a conversation against the whole.
func TestReadParts(t *testing.T) {
	r := newRepository(t)
	for _, n := range []int{0, 1, 16, 17, 600} {
		id := r.commit(t, commitOf(conversation(n, nil))).ID
		state, err := r.reader.Load(ctx, id)
		if err != nil || len(state.Thread.Live) != n {
			t.Fatalf("%d messages of %d, %v", len(state.Thread.Live), n, err)
		}
		all := state.Thread.Live
		packed, err := r.reader.LoadPacked(ctx, id)
		if err != nil || packed.Live.Len() != n {
			t.Fatalf("packed: %d messages of %d, %v", packed.Live.Len(), n, err)
		}
		for k := range n {
			if got := packed.Live.At(k); !cmp.Equal(got, all[k]) {
				t.Errorf("packed message %d of %d: %s", k, n, cmp.Diff(got, all[k]))
			}
		}
		if got := collect(t, r.reader.Entries(ctx, id)); !slices.EqualFunc(got, all, func(a, b domarkx.Entry) bool { return cmp.Equal(a, b) }) {
			t.Errorf("%d entries of %d", len(got), n)
		}
		roles, err := r.reader.Roles(ctx, id)
		if err != nil || !slices.EqualFunc(roles, all, func(role domarkx.Role, e domarkx.Entry) bool { return role == e.Role }) {
			t.Errorf("roles %v of %d messages, %v", roles, n, err)
		}
		last, err := r.reader.Entry(ctx, id, n-1)
		if n == 0 && !errors.Is(err, domarkx.ErrNotFound) || n > 0 && (err != nil || !cmp.Equal(last, all[n-1])) {
			t.Errorf("last of %d messages: %v, %v", n, last, err)
		}
		for _, k := range []int{-1, n, n + 1000} {
			if _, err := r.reader.Entry(ctx, id, k); !errors.Is(err, domarkx.ErrNotFound) {
				t.Errorf("message %d of %d: %v", k, n, err)
			}
		}
		rapid.Check(t, func(t *rapid.T) {
			from, to := rapid.IntRange(-2, n+20).Draw(t, "from"), rapid.IntRange(-2, n+20).Draw(t, "to")
			var want []domarkx.Entry
			if first, end := max(0, from), min(n, to); first < end {
				want = all[first:end]
			}
			got, err := r.reader.EntriesBetween(ctx, id, from, to)
			if err != nil || len(got) != len(want) || len(want) > 0 && !cmp.Equal(got, want) {
				t.Errorf("%d messages from %d to %d of %d, %v; want %d", len(got), from, to, n, err, len(want))
			}
			leaves, err := r.reader.LeavesBetween(ctx, id, from, to)
			if err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, leaf := range leaves {
				entries, err := r.reader.LeafEntries(ctx, leaf)
				if err != nil {
					t.Fatal(err)
				}
				if leaf.First >= to || leaf.First+len(entries) <= from || !cmp.Equal(entries, all[leaf.First:leaf.First+len(entries)]) {
					t.Errorf("leaf with %d messages from %d on for %d to %d of %d", len(entries), leaf.First, from, to, n)
				}
				seen += max(0, min(to, leaf.First+len(entries))-max(from, leaf.First))
			}
			if seen != len(want) {
				t.Errorf("leaves have %d messages from %d to %d of %d, want %d", seen, from, to, n, len(want))
			}
			if n > 0 {
				k := rapid.IntRange(0, n-1).Draw(t, "k")
				if e, err := r.reader.Entry(ctx, id, k); err != nil || !cmp.Equal(e, all[k]) {
					t.Errorf("message %d of %d: %v, %v", k, n, e, err)
				}
			}
		})
	}
}

// TestLeaves checks that snapshots share the leaves that did not change, so that a caller can skip them.
func TestLeaves(t *testing.T) {
	r := newRepository(t)
	first := r.commit(t, commitOf(conversation(100, nil)))
	second := r.commit(t, commitOf(conversation(101, map[int]string{40: "edited"}), first.ID))
	seen := map[string]bool{}
	skip := func(id string) bool {
		defer func() { seen[id] = true }()
		return seen[id]
	}
	if got := collect(t, r.reader.Leaves(ctx, first.ID, skip)); len(got) != 7 {
		t.Errorf("100 messages are in %d leaves", len(got))
	}
	var numbers []int
	for _, leaf := range collect(t, r.reader.Leaves(ctx, second.ID, skip)) {
		numbers = append(numbers, leaf.First)
	}
	if !slices.Equal(numbers, []int{32, 96}) {
		t.Errorf("leaves from messages %v on are new, want those with messages 40 and 100", numbers)
	}
	for range r.reader.Leaves(ctx, second.ID, nil) {
		break // the walk must end
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range r.reader.Leaves(ended, second.ID, nil) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("after the end: %v", err)
		}
	}
	for _, id := range []string{"main", "", second.ID[:39] + "g"} {
		for _, err := range r.reader.Leaves(ctx, id, nil) {
			if err == nil {
				t.Errorf("leaves of %q", id)
			}
		}
		if _, err := r.reader.LeavesBetween(ctx, id, 0, 1); err == nil {
			t.Errorf("leaves of %q", id)
		}
	}
}

// TestLeafPairs checks that comparing two snapshots reads the leaves that differ, and only those.
func TestLeafPairs(t *testing.T) {
	r := newRepository(t)
	const n = 600
	plain := r.commit(t, commitOf(conversation(n, nil)))
	for name, c := range map[string]struct {
		edited []int
		leaves []int
	}{
		"nothing":          {nil, nil},
		"one message":      {[]int{0}, []int{0}},
		"two of one leaf":  {[]int{33, 34}, []int{32}},
		"two of different": {[]int{15, 16, 599}, []int{0, 16, 592}},
	} {
		t.Run(name, func(t *testing.T) {
			texts := map[int]string{}
			for _, k := range c.edited {
				texts[k] = "edited"
			}
			edited := r.commit(t, commitOf(conversation(n, texts)))
			never := func(string, string) bool { return false }
			var numbers []int
			for _, pair := range collect(t, r.reader.LeafPairs(ctx, plain.ID, edited.ID, never)) {
				if pair[0].First != pair[1].First || pair[0].ID == pair[1].ID {
					t.Errorf("pair %v", pair)
				}
				numbers = append(numbers, pair[0].First)
			}
			if !slices.Equal(numbers, c.leaves) {
				t.Errorf("leaves %v differ, want %v", numbers, c.leaves)
			}
			always := func(string, string) bool { return true }
			if got := collect(t, r.reader.LeafPairs(ctx, plain.ID, edited.ID, always)); len(got) != 0 {
				t.Errorf("pairs that were seen: %v", got)
			}
			for range r.reader.LeafPairs(ctx, plain.ID, edited.ID, never) {
				break // the walk must end
			}
		})
	}
	longer := r.commit(t, commitOf(conversation(n+1, nil)))
	for _, err := range r.reader.LeafPairs(ctx, plain.ID, longer.ID, nil) {
		if !errors.Is(err, domarkx.ErrInvalid) {
			t.Errorf("snapshots of %d and %d messages: %v", n, n+1, err)
		}
	}
	empty := r.commit(t, commitOf(conversation(0, nil)))
	if got := collect(t, r.reader.LeafPairs(ctx, empty.ID, empty.ID, nil)); len(got) != 0 {
		t.Errorf("pairs without messages: %v", got)
	}
}

func TestConflictCount(t *testing.T) {
	r := newRepository(t)
	with := func(copies ...int) *domarkx.State {
		state := conversation(4, nil)
		for i, k := range slices.Backward(copies) {
			e := state.Thread.Live[k]
			e.Rev = domarkx.Rev{byte(i + 1)}
			e.JSON = domarkx.Blob{Data: messageJSON(e.Role, "the other text")}
			state.Thread.Live = slices.Insert(state.Thread.Live, k+1, e)
		}
		return state
	}
	twoHeaders := with(1)
	second := twoHeaders.Headers[0]
	second.Rev = domarkx.Rev{9}
	twoHeaders.Headers = append(twoHeaders.Headers, second)
	for name, c := range map[string]struct {
		state *domarkx.State
		want  int
	}{
		"none": {with(), 0}, "one": {with(2), 1}, "two": {with(0, 3), 2}, "three texts of one message": {with(1, 1), 1}, "with headers": {twoHeaders, 2},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := r.reader.ConflictCount(ctx, r.commit(t, commitOf(c.state)).ID); err != nil || got != c.want {
				t.Errorf("%d conflicts, %v; want %d", got, err, c.want)
			}
		})
	}
}
