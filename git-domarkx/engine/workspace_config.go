package engine

import (
	"context"
	"crypto/sha256"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

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
