package engine

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// ContinueWith commits a state as the successor of a snapshot. linked are workspace versions to link from the new snapshot.
func (m *SessionManager) ContinueWith(ctx context.Context, tx *transaction.Tx, parent domarkx.Info, state *domarkx.State, c Change, subject string, linked ...string) (domarkx.Info, error) {
	owned, err := m.OwnedHeaders(ctx, state.Headers)
	if err != nil {
		return domarkx.Info{}, err
	}
	if owned != nil {
		state.Headers = owned
	}
	if err := m.keepWorkspace(ctx, tx, state); err != nil {
		return domarkx.Info{}, err
	}
	commit, err := m.CommitOf(ctx, tx, state, c, subject)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Parents = append([]string{parent.ID}, linked...)
	return tx.Commit(ctx, transaction.AsIs(), commit)
}

// Revert resets a state to the headers and messages of wanted. If n is not negative, it keeps
// only the first n+1 messages of wanted.
func (m *SessionManager) Revert(ctx context.Context, state, wanted *domarkx.State, n int) error {
	thread := wanted.Thread
	if n >= 0 {
		thread.Live = thread.Live[:n+1]
	}
	state.Thread = *state.Thread.Revert(&thread)
	now, then := state.Headers[0], wanted.Headers[0]
	if len(wanted.Headers) == 1 && len(state.Headers) == 1 && then.Rev == now.Rev && (!then.Layout.Verbatim || then.Layout == now.Layout) {
		return nil
	}
	h, err := view.LoadHeader(ctx, m.store, wanted.Headers)
	if err != nil {
		return err
	}
	if len(wanted.Headers) > 1 { // the conflict becomes text, as it was shown
		then.JSON = domarkx.Blob{Data: view.PrettyJSON(h.Value())}
		then.Layout, then.Source = markdown.WriteHeader(h).Layout, domarkx.Blob{}
	}
	state.Headers = domarkx.ReviseHeader(state.Headers, then, view.NormalHeader(h))
	return nil
}

// keepWorkspace ensures that a document still contains the session's workspace-config if the
// message that contained it was removed. It appends the block to the preamble.
func (m *SessionManager) keepWorkspace(ctx context.Context, tx view.Blobs, state *domarkx.State) error {
	if len(state.Headers) > 1 {
		return nil // it is shown in canonical form, which includes the block
	}
	h, err := view.LoadHeader(ctx, tx, state.Headers)
	if err != nil {
		return err
	}
	workspace, ok := h.ExecutionConfig.Get("workspace")
	if !ok {
		return nil
	}
	v, err := view.New(ctx, tx, state)
	if err != nil {
		return err
	}
	says, err := v.Says(ctx, workspace)
	if err != nil || says {
		return err
	}
	preamble, err := v.Bytes(ctx, 0)
	if err != nil {
		return err
	}
	block := domarkx.NewHeader()
	block.ExecutionConfig = block.ExecutionConfig.With("workspace", workspace)
	written := slices.Concat(preamble, []byte(domarkx.Separator(*v.Layout(0), domarkx.Layout{})), markdown.RenderHeader(block))
	if len(preamble) == 0 {
		written = markdown.RenderHeader(block)
	}
	next := state.Headers[0]
	next.Layout = domarkx.Layout{Verbatim: true, Digest: sha256.Sum256(written), Size: int64(len(written))}
	next.Source = domarkx.Blob{Data: written}
	state.Headers = domarkx.ReviseHeader(state.Headers, next, view.NormalHeader(h))
	return nil
}
