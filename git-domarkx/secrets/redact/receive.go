package redact

import (
	"context"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// An Incoming is a verified commit of a remote.
type Incoming struct {
	Ref      string // the tracking ref
	ID       string
	Accept   bool // do not check that the redacted history differs only in secrets
	Redacted bool // also replace a local history by a redacted one
}

// Received describes how a commit of a remote was received.
type Received struct {
	ID       string   // the received commit, or its redacted form
	Moved    bool     // the tracking ref points to ID
	Replaced bool     // local histories were replaced
	Kept     []string // refs of the replaced histories in the trash
}

// Receive combines a history of a remote with the local histories if only one side is redacted, or
// if both are redacted differently. The local refs and the tracking ref move to the redacted
// history, each with the commits that only that side has on top. If no commit was redacted
// differently, nothing changes. If the histories differ in more than secrets, nothing changes and
// the error matches [ErrNotSame].
func (m *Manager) Receive(ctx context.Context, in Incoming) (Received, error) {
	result := Received{ID: in.ID}
	if needed, err := m.concerns(ctx, in); err != nil || !needed {
		return result, err
	}
	if err := m.load(ctx); err != nil {
		return result, err
	}
	kept, err := m.store.Redact(ctx, "redact", func(tx *gitstore.Tx) (gitstore.Redaction, error) {
		result = Received{ID: in.ID}
		h, theirs, err := m.against(ctx, in)
		if err != nil || len(h.refs) == 0 {
			return gitstore.Redaction{}, err
		}
		w, err := m.rewrite(ctx, tx, h, theirs, nil, in.Accept)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		change := w.redaction(h)
		delete(change.Moves, in.Ref)
		result.Replaced = slices.ContainsFunc(slices.Collect(maps.Keys(change.Moves)), isLocal)
		if now := w.done[in.ID]; now != "" && now != in.ID {
			result.ID, result.Moved = now, true
			change.Moves[in.Ref], change.Remotes = now, map[string]string{in.Ref: in.ID}
		}
		change.Keep = true
		if len(change.Moves) > 0 && len(h.snapshots) > 0 {
			err = m.finish(ctx, h, w, &change)
		}
		return change, err
	})
	if err != nil {
		return Received{ID: in.ID}, err
	}
	result.Kept = kept
	return result, nil
}

func isLocal(ref string) bool {
	k, _ := refname.Of(ref)
	return k.Prefix != ""
}

// concerns reports whether a remote's commit brings commits that a local redaction replaced or, if
// in.Redacted is set, commits that replace others.
func (m *Manager) concerns(ctx context.Context, in Incoming) (bool, error) {
	refs, err := m.store.References(ctx)
	if err != nil {
		return false, err
	}
	var known []string
	for _, ref := range refs {
		if isLocal(ref.Name) {
			known = append(known, ref.ID)
		}
	}
	brought, err := m.store.Commits(ctx, []string{in.ID}, known)
	if err != nil {
		return false, err
	}
	replaced, err := m.store.Replacements()
	if err != nil {
		return false, err
	}
	for _, id := range brought {
		if replaced[id] != "" {
			return true, nil
		}
		if !in.Redacted {
			continue
		}
		head, err := m.store.Head(ctx, id)
		if err != nil {
			return false, err
		}
		if key(head) != id {
			return true, m.store.NoteRedacted()
		}
	}
	return false, nil
}

// against returns the local history that contains commits of a remote in another form, and the
// remote's commits that are not in that history.
func (m *Manager) against(ctx context.Context, in Incoming) (*history, []snapshot.CommitHead, error) {
	there, err := m.graph(ctx, []string{in.ID})
	if err != nil {
		return nil, nil, err
	}
	keys := map[string]string{}
	for id, head := range there.heads {
		keys[key(head)] = id
	}
	refs, err := m.store.References(ctx)
	if err != nil {
		return nil, nil, err
	}
	refs = slices.DeleteFunc(refs, func(ref refdb.Ref) bool { return ref.Name == in.Ref })
	var start []string
	tips := make([]string, len(refs))
	for i, ref := range refs {
		tips[i] = ref.ID
	}
	here, err := m.graph(ctx, tips)
	if err != nil {
		return nil, nil, err
	}
	for _, ref := range refs {
		reached := map[string]bool{}
		here.below(ref.ID, reached)
		for id := range reached {
			if other := keys[key(here.heads[id])]; isLocal(ref.Name) && other != "" && other != id {
				start = append(start, ref.Name)
				break
			}
		}
	}
	if len(start) == 0 {
		return &history{}, nil, nil
	}
	h, err := m.sharing(ctx, refs, start...)
	if err != nil {
		return nil, nil, err
	}
	ours := map[string]bool{}
	for _, head := range slices.Concat(h.snapshots, h.versions) {
		ours[idOf(head)] = true
	}
	var theirs []snapshot.CommitHead
	for _, id := range there.order {
		if !ours[id] {
			theirs = append(theirs, there.heads[id])
		}
	}
	return h, theirs, nil
}
