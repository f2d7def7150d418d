package redact

import (
	"context"
	"maps"
	"slices"

	"github.com/domarkx/domarkx/git-domarkx/engine/transfer"
	"github.com/domarkx/domarkx/git-domarkx/secrets/placeholder"
	"github.com/domarkx/domarkx/gitstore"
	"github.com/domarkx/domarkx/gitstore/refdb"
	"github.com/domarkx/domarkx/gitstore/refname"
	"github.com/domarkx/domarkx/gitstore/remote"
	"github.com/domarkx/domarkx/gitstore/snapshot"
)

// Receive combines a history of a remote with the local histories if only one side is redacted or has expired versions, or
// if both differ in that. The local refs and the tracking ref move to the redacted
// history, each with the commits that only that side has on top. If no commit was redacted
// differently, nothing changes. If the histories differ in more than secrets, nothing changes and
// the error matches [transfer.ErrNotSame]. If only versions expired, the replaced histories are not kept, unless the trash or a live
// workspace needs them.
func (m *Manager) Receive(ctx context.Context, in transfer.Incoming) (transfer.Received, error) {
	result := transfer.Received{ID: in.ID}
	if needed, err := m.concerns(ctx, in); err != nil || !needed {
		return result, err
	}
	kept, err := m.store.Redact(ctx, "redact", func(tx *gitstore.Tx) (gitstore.Redaction, error) {
		result = transfer.Received{ID: in.ID}
		h, theirs, err := m.against(ctx, in)
		if err != nil || len(h.refs) == 0 {
			return gitstore.Redaction{}, err
		}
		stubs, keep, err := m.joinStubs(ctx, h, theirs, in.ID)
		if err != nil {
			return gitstore.Redaction{}, err
		}
		t, plain := placeholder.New(nil, nil), isPlain(h.snapshots, h.versions, theirs)
		if !plain {
			t, err = m.newTable(ctx)
		}
		if err != nil {
			return gitstore.Redaction{}, err
		}
		w, err := m.rewrite(ctx, tx, h, theirs, nil, in.Accept, t, stubs)
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
		for _, ref := range h.refs {
			if now := change.Moves[ref.Name]; now != "" && !isLocal(ref.Name) {
				result.Others = append(result.Others, remote.Move{Ref: ref.Name, From: ref.ID, To: now})
			}
		}
		result.Expired = plain && result.Replaced
		change.Keep = !plain || keep
		if len(change.Moves) > 0 && len(h.snapshots) > 0 {
			err = m.finish(ctx, h, w, &change)
		}
		return change, err
	})
	if err != nil {
		return transfer.Received{ID: in.ID}, err
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
func (m *Manager) concerns(ctx context.Context, in transfer.Incoming) (bool, error) {
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
func (m *Manager) against(ctx context.Context, in transfer.Incoming) (*history, []snapshot.CommitHead, error) {
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
	here, reached, err := m.reach(ctx, refs)
	if err != nil {
		return nil, nil, err
	}
	var start []string
	for i, ref := range refs {
		for id := range reached[i] {
			if other := keys[key(here.heads[id])]; isLocal(ref.Name) && other != "" && other != id {
				start = append(start, ref.Name)
				break
			}
		}
	}
	if len(start) == 0 {
		return &history{}, nil, nil
	}
	h := here.sharing(refs, reached, start...)
	var theirs []snapshot.CommitHead
	for _, id := range there.order {
		if !h.local[id] {
			theirs = append(theirs, there.heads[id])
		}
	}
	isTheirs := func(head snapshot.CommitHead) bool { // also that of another ref of the remote
		_, ok := there.heads[idOf(head)]
		return ok && !h.local[idOf(head)]
	}
	h.snapshots, h.versions = slices.DeleteFunc(h.snapshots, isTheirs), slices.DeleteFunc(h.versions, isTheirs)
	return h, theirs, nil
}
