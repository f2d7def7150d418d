package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/domarkx/domarkx/gitstore"

	"github.com/domarkx/domarkx"
)

// A side is one of the two snapshots of a merge.
type side struct {
	info  domarkx.Info
	state *domarkx.State
}

// merge commits the merge of two snapshots. The commit depends only on the two, so that every
// clone that merges them creates the same one.
func (m *SessionManager) merge(ctx context.Context, tx *gitstore.Tx, a, b side) (domarkx.Info, error) {
	if b.info.ID < a.info.ID {
		a, b = b, a
	}
	merger := mergerAt(max(a.info.Date, b.info.Date))
	merged := domarkx.MergeStates(a.state, b.state)
	owned, err := m.ownedHeaders(ctx, merged.Headers)
	if err != nil {
		return domarkx.Info{}, err
	}
	if owned != nil {
		merged.Headers = owned
	}
	c, err := m.commitOf(ctx, tx, merged,
		change{operation: "merge", author: merger, committer: merger},
		fmt.Sprintf("merge %.12s and %.12s", a.info.ID, b.info.ID))
	if err != nil {
		return domarkx.Info{}, err
	}
	c.Parents = []string{a.info.ID, b.info.ID}
	return tx.Commit(ctx, c)
}

// mergerAt returns the author of merges, which is the same in every clone.
func mergerAt(date int64) domarkx.Signature {
	return domarkx.Signature{Name: "git-domarkx", Email: "merge@git-domarkx.invalid", When: time.Unix(date, 0).UTC()}
}
