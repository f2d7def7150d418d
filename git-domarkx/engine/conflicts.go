package engine

import (
	"context"

	"github.com/domarkx/domarkx"
)

// Conflict is the status of a session in which a merge left conflicts.
const Conflict = "conflict"

// Conflicts returns the number of messages and headers in conflict for each session, by name.
// Sessions without conflicts are omitted.
func (m *SessionManager) Conflicts(ctx context.Context, list []domarkx.Info) (map[string]int, error) {
	found, err := m.store.Conflicts(ctx, list)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	counts := map[string]int{}
	for _, info := range list {
		if n := found[info.ID]; n > 0 {
			counts[info.Name] = n
		}
	}
	return counts, nil
}

// MergeStatus returns the status of a session after a merge.
func MergeStatus(state *domarkx.State) string {
	if len(state.Headers) > 1 {
		return Conflict
	}
	live := domarkx.EntryList(state.Thread.Live)
	for k := 1; k < len(live); k++ {
		if live[k].ID == live[k-1].ID {
			return Conflict
		}
	}
	return "merged"
}
