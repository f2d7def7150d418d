package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/fusefs/drafts"
)

// TextOf returns a snapshot as Markdown for an editor. The error matches [domarkx.ErrCorrupt] if
// the snapshot is damaged.
func (m *SessionManager) TextOf(ctx context.Context, id string) ([]byte, error) {
	var b bytes.Buffer
	err := m.Write(ctx, id, Markdown, &b)
	return b.Bytes(), err
}

// EditResult describes what [SessionManager.Edit] changed.
type EditResult struct {
	SaveResult
	FromDraft bool // the editor started with a draft that could not be saved before
}

// Edit passes a session as Markdown to editor and saves the text that it returns. If the text
// cannot be saved, Edit keeps it as a draft, and the next edit starts with the draft.
func (m *SessionManager) Edit(ctx context.Context, name string, editor func(text []byte) ([]byte, error)) (EditResult, error) {
	tip, err := m.store.Tip(ctx, name)
	if err != nil {
		return EditResult{}, err
	}
	var edited EditResult
	base := tip.ID
	text, err := m.TextOf(ctx, tip.ID)
	if err != nil {
		return EditResult{}, err
	}
	draft, ok, err := m.draft(name)
	if err != nil {
		return EditResult{}, err
	}
	if ok {
		text, base, edited.FromDraft = draft.Data, draft.Base, true
	}
	next, err := editor(text)
	if err != nil {
		return edited, err
	}
	if bytes.Equal(next, text) && !ok {
		edited.Info = tip
		return edited, nil
	}
	edited.SaveResult, err = m.Save(ctx, SaveRequest{Name: name, Base: base, Data: next, Operation: "edit"})
	if err != nil {
		kept := drafts.PutBroken(m.draftsDir(), drafts.Draft{Name: name, Base: base, Problem: err.Error(), Data: next})
		if kept != nil {
			return edited, errors.Join(err, fmt.Errorf("keeping the text as a draft: %w", kept))
		}
		return edited, fmt.Errorf("%w; the text is kept as a draft; correct it with git domarkx edit %s", err, name)
	}
	if ok {
		err = drafts.Discard(m.draftsDir(), name)
	}
	return edited, err
}
