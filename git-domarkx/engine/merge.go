package engine

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/gitstore/original"
)

// A MergeSide is one of the two snapshots of a merge.
type MergeSide struct {
	Info  domarkx.Info
	State *domarkx.State
}

// Merge commits the merge of two snapshots. The commit depends only on the two, so that every
// clone that merges them creates the same one.
func (m *SessionManager) Merge(ctx context.Context, tx *transaction.Tx, a, b MergeSide) (domarkx.Info, error) {
	if b.Info.ID < a.Info.ID {
		a, b = b, a
	}
	merger := MergerAt(max(a.Info.Date, b.Info.Date))
	merged, err := m.mergeStates(ctx, tx, a, b)
	if err != nil {
		return domarkx.Info{}, err
	}
	c, err := m.CommitOf(ctx, tx, merged,
		Change{Operation: "merge", Author: merger, Committer: merger},
		fmt.Sprintf("merge %.12s and %.12s", a.Info.ID, b.Info.ID))
	if err != nil {
		return domarkx.Info{}, err
	}
	c.Parents = []string{a.Info.ID, b.Info.ID}
	return tx.Commit(ctx, transaction.AsIs(), c)
}

// mergeStates merges two states. Of two imports of one transcript that grew in between, the newer one counts, without a conflict. It is the
// newer one if its original continues that of the other, or if its header has replaced the header of the other. A header that the user
// changed before an import kept the change is in conflict nevertheless, unless the newer import knows the change.
func (m *SessionManager) mergeStates(ctx context.Context, tx *transaction.Tx, a, b MergeSide) (*domarkx.State, error) {
	merged := domarkx.MergeStates(a.State, b.State)
	sides := [][2]MergeSide{{a, b}, {b, a}}
	if len(a.State.Headers) == 1 && len(b.State.Headers) == 1 {
		for _, s := range sides {
			older, newer := s[0].State.Headers[0], s[1].State.Headers[0]
			ok := slices.Contains(newer.Past, older.Rev)
			var err error
			if !ok {
				ok, err = m.continues(ctx, newer, older)
			}
			if err != nil {
				return nil, err
			}
			if ok {
				merged = domarkx.MergeGrown(s[0].State, s[1].State)
			}
		}
	}
	var err error
	merged.Headers, err = domarkx.DropContinued(merged.Headers, func(longer, shorter domarkx.HeaderEntry) (bool, error) {
		for _, s := range sides {
			older, isOlder := headerOf(s[0], shorter.Rev)
			newer, isNewer := headerOf(s[1], longer.Rev)
			if !isOlder || !isNewer {
				continue
			}
			if ok, err := m.continues(ctx, newer, older); err != nil || !ok {
				return false, err
			}
			edited, err := changedSince(ctx, tx, s[0].Info.ID, older, newer)
			return !edited, err
		}
		return false, nil
	})
	return merged, err
}

// headerOf returns the header of a side with a revision, as it was before the merge.
func headerOf(s MergeSide, rev domarkx.Rev) (domarkx.HeaderEntry, bool) {
	i := slices.IndexFunc(s.State.Headers, func(h domarkx.HeaderEntry) bool { return h.Rev == rev })
	if i < 0 {
		return domarkx.HeaderEntry{}, false
	}
	return s.State.Headers[i], true
}

// changedSince reports whether a user may have changed the older header of two, in the history of a snapshot, without the newer one knowing. What a
// user writes has no original. If the history is not all there, the answer is yes.
func changedSince(ctx context.Context, tx *transaction.Tx, snapshot string, older, newer domarkx.HeaderEntry) (bool, error) {
	unknown := map[domarkx.Rev]bool{}
	for _, rev := range older.Past {
		unknown[rev] = rev != newer.Rev && !slices.Contains(newer.Past, rev)
	}
	maps.DeleteFunc(unknown, func(_ domarkx.Rev, is bool) bool { return !is })
	if len(unknown) == 0 {
		return false, nil
	}
	for info, err := range tx.Ancestors(ctx, snapshot) {
		var headers []domarkx.HeaderEntry
		if err == nil {
			headers, err = tx.Header(ctx, info.ID)
		}
		if errors.Is(err, domarkx.ErrNotFound) || errors.Is(err, domarkx.ErrCorrupt) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		for _, h := range headers {
			if unknown[h.Rev] && h.Origin == "" {
				return true, nil
			}
			delete(unknown, h.Rev)
		}
		if len(unknown) == 0 {
			break
		}
	}
	return false, nil
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
