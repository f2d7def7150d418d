package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore"
)

// A MergeSide is one of the two snapshots of a merge.
type MergeSide struct {
	Info  domarkx.Info
	State *domarkx.State
}

// Merge commits the merge of two snapshots. The commit depends only on the two, so that every
// clone that merges them creates the same one.
func (m *SessionManager) Merge(ctx context.Context, tx *gitstore.Tx, a, b MergeSide) (domarkx.Info, error) {
	if b.Info.ID < a.Info.ID {
		a, b = b, a
	}
	merger := MergerAt(max(a.Info.Date, b.Info.Date))
	merged := domarkx.MergeStates(a.State, b.State)
	owned, err := m.OwnedHeaders(ctx, merged.Headers)
	if err != nil {
		return domarkx.Info{}, err
	}
	if owned != nil {
		merged.Headers = owned
	}
	c, err := m.CommitOf(ctx, tx, merged,
		Change{Operation: "merge", Author: merger, Committer: merger},
		fmt.Sprintf("merge %.12s and %.12s", a.Info.ID, b.Info.ID))
	if err != nil {
		return domarkx.Info{}, err
	}
	c.Parents = []string{a.Info.ID, b.Info.ID}
	return tx.Commit(ctx, c)
}

// MergerAt returns the author of merges, which is the same in every clone.
func MergerAt(date int64) domarkx.Signature {
	return domarkx.Signature{Name: "git-domarkx", Email: "merge@git-domarkx.invalid", When: time.Unix(date, 0).UTC()}
}

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
