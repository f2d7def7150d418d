package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/original"
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
	merged, err := m.mergeStates(ctx, a.State, b.State)
	if err != nil {
		return domarkx.Info{}, err
	}
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

// mergeStates merges two states. Of two imports of one transcript that grew in between, the newer one counts, without a conflict. It is the
// newer one if its original continues that of the other, or if its header has replaced the header of the other.
func (m *SessionManager) mergeStates(ctx context.Context, a, b *domarkx.State) (*domarkx.State, error) {
	continues := func(longer, shorter domarkx.HeaderEntry) (bool, error) { return m.continues(ctx, longer, shorter) }
	merged := domarkx.MergeStates(a, b)
	if len(a.Headers) == 1 && len(b.Headers) == 1 {
		for _, sides := range [][2]*domarkx.State{{a, b}, {b, a}} {
			older, newer := sides[0].Headers[0], sides[1].Headers[0]
			ok := slices.Contains(newer.Past, older.Rev)
			var err error
			if !ok {
				ok, err = continues(newer, older)
			}
			if err != nil {
				return nil, err
			}
			if ok {
				merged = domarkx.MergeGrown(sides[0], sides[1])
			}
		}
	}
	var err error
	merged.Headers, err = domarkx.DropContinued(merged.Headers, continues)
	return merged, err
}

// continues reports whether the original of a header begins with the whole original of another one. A damaged original continues none.
func (m *SessionManager) continues(ctx context.Context, longer, shorter domarkx.HeaderEntry) (bool, error) {
	if longer.Origin == "" || shorter.Origin == "" || longer.Origin == shorter.Origin {
		return false, nil
	}
	long, err := m.store.Origin(ctx, longer.Origin)
	var short *original.Document
	if err == nil {
		short, err = m.store.Origin(ctx, shorter.Origin)
	}
	var content io.ReadCloser
	if err == nil && long.Format == short.Format && long.Size > short.Size {
		content, err = long.Open()
	}
	digest := sha256.New()
	if content != nil {
		_, err = io.CopyN(digest, content, short.Size)
		content.Close()
	}
	if errors.Is(err, domarkx.ErrCorrupt) || errors.Is(err, domarkx.ErrNotFound) {
		return false, nil
	}
	return err == nil && content != nil && [32]byte(digest.Sum(nil)) == short.SHA256, err
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
