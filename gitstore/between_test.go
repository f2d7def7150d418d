package gitstore_test

import (
	"errors"
	"math"
	"testing"

	"github.com/domarkx/domarkx/format/domarkx"
)

// TestEntriesBetween reads parts of conversations, at and beside the borders of their directories.
func TestEntriesBetween(t *testing.T) {
	s, _ := newStore(t)
	for name, messages := range map[string]int{"empty": 0, "one": 1, "leaf": 32, "two": 65, "many": 2100} {
		state := conversation(messages)
		tip := save(t, s, name, state)
		borders := []int{0, 31, 32, 33, 64, 1023, 1024, 2099, 2100, math.MaxInt} // each pair reads what is between them
		for _, from := range borders {
			for _, to := range borders {
				got, err := s.EntriesBetween(t.Context(), tip.ID, from, to)
				if err != nil {
					t.Fatalf("%s from %d to %d: %v", name, from, to, err)
				}
				first, end := min(from, messages), min(to, messages)
				if len(got) != max(0, end-first) {
					t.Fatalf("%s from %d to %d: %d messages, expected %d", name, from, to, len(got), max(0, end-first))
				}
				for i, e := range got {
					if want := state.Thread.Live[first+i]; e.ID != want.ID || e.Role != want.Role || e.After != want.After {
						t.Fatalf("%s from %d to %d: message %d is %s, expected %s", name, from, to, first+i, e.ID, want.ID)
					}
				}
			}
		}
		for _, from := range borders {
			for _, to := range borders {
				leaves, err := s.LeavesBetween(t.Context(), tip.ID, from, to)
				if err != nil {
					t.Fatalf("%s from %d to %d: %v", name, from, to, err)
				}
				first, end := min(from, messages)/16*16, (min(to, messages)+15)/16*16
				if from >= to || from >= messages {
					end = first
				}
				if len(leaves) != (end-first)/16 {
					t.Fatalf("%s from %d to %d: %d leaves, expected %d", name, from, to, len(leaves), (end-first)/16)
				}
				for i, leaf := range leaves {
					entries, err := s.LeafEntries(t.Context(), leaf)
					if err != nil || leaf.First != first+16*i || entries[0].ID != state.Thread.Live[leaf.First].ID {
						t.Fatalf("%s from %d to %d: leaf %d is %+v, %v", name, from, to, i, leaf, err)
					}
				}
			}
		}
		rest, err := s.EntriesBetween(t.Context(), tip.ID, messages/2, math.MaxInt)
		if err != nil || len(rest) != messages-messages/2 {
			t.Errorf("%s from its middle: %d messages, %v", name, len(rest), err)
		}
	}
	if _, err := s.EntriesBetween(t.Context(), "0123456789012345678901234567890123456789", 0, 1); !errors.Is(err, domarkx.ErrNotFound) {
		t.Errorf("of no snapshot: %v, expected %v", err, domarkx.ErrNotFound)
	}
}
