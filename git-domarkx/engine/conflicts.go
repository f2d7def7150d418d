package engine

import (
	"context"

	"github.com/domarkx/domarkx"
)

// Conflict is the status of a session whose merge left texts of both sides.
const Conflict = "conflict"

// Conflicts returns how many messages, and headers, of sessions stand in the texts of
// several sides, by session, without those that have none.
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

// mergeStatus is the status of a session that was merged.
func mergeStatus(state *domarkx.State) string {
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
