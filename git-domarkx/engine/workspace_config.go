package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
)

// keepWorkspace ensures that a document still contains the session's workspace-config if the
// message that contained it was removed. It appends the block to the preamble.
func (m *SessionManager) keepWorkspace(ctx context.Context, tx blobs, state *domarkx.State) error {
	if len(state.Headers) > 1 {
		return nil // it is shown in canonical form, which includes the block
	}
	h, err := loadHeader(ctx, tx, state.Headers)
	if err != nil {
		return err
	}
	workspace, ok := h.ExecutionConfig.Get("workspace")
	if !ok {
		return nil
	}
	v, err := newView(ctx, tx, state)
	if err != nil {
		return err
	}
	says, err := v.says(ctx, workspace)
	if err != nil || says {
		return err
	}
	preamble, err := v.bytes(ctx, 0)
	if err != nil {
		return err
	}
	block := domarkx.NewHeader()
	block.ExecutionConfig = block.ExecutionConfig.With("workspace", workspace)
	written := slices.Concat(preamble, []byte(domarkx.Separator(*v.layout(0), domarkx.Layout{})), markdown.RenderHeader(block))
	if len(preamble) == 0 {
		written = markdown.RenderHeader(block)
	}
	next := state.Headers[0]
	next.Layout = domarkx.Layout{Verbatim: true, Digest: sha256.Sum256(written), Size: int64(len(written))}
	next.Source = domarkx.Blob{Data: written}
	state.Headers = domarkx.ReviseHeader(state.Headers, next, normalHeader(h))
	return nil
}

// says reports whether the document contains this workspace-config.
func (v *view) says(ctx context.Context, workspace domarkx.Value) (bool, error) {
	var b bytes.Buffer
	if err := v.write(ctx, &b); err != nil {
		return false, err
	}
	files, err := v.includes(ctx)
	if err != nil {
		return false, err
	}
	doc, err := markdown.Decode(format.Source{Data: b.Bytes(), Include: storedInclude(files)})
	if err != nil {
		return false, nil // add the block: a removed message may have contained it
	}
	now, ok := doc.Header.ExecutionConfig.Get("workspace")
	return ok && now.Equal(workspace), nil
}
