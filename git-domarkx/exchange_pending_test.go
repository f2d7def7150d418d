package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
)

// TestPendingSessionsAreSorted: push --all lists sessions without a snapshot by name.
func TestPendingSessionsAreSorted(t *testing.T) {
	pending := pendingSaves{}
	for _, name := range []string{"e", "d", "sent", "c", "b", "a"} {
		pending[name] = &engine.PendingError{Name: name}
	}
	var got []string
	for _, r := range withPending([]transfer.Result{{Name: "sent"}}, pending) {
		got = append(got, r.Name)
	}
	if diff := cmp.Diff([]string{"sent", "a", "b", "c", "d", "e"}, got); diff != "" {
		t.Error(diff)
	}
}
