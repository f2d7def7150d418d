package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs/drafts"
	"github.com/domarkx/domarkx/gitstore/refname"
)

// TextOf returns a snapshot as Markdown for an editor. The error matches [domarkx.ErrCorrupt] if the snapshot is damaged.
func (m *SessionManager) TextOf(ctx context.Context, id string) ([]byte, error) {
	var b bytes.Buffer
	err := m.Write(ctx, id, Markdown, &b)
	return b.Bytes(), err
}

// EditResult describes what [SessionManager.Edit] changed.
type EditResult struct {
	SaveResult
	Kept bool // the text could not be saved, and is a draft

	// Stale are the keys of the drafts that the saved text was made from, as far as running
	// mounts have them, which then have to drop them.
	Stale []string
}

// Edit passes a session as Markdown to editor and saves the text that it returns. If the text cannot be saved, Edit keeps it
// as a draft, and the next edit starts with the draft. A draft can be edited before its session exists.
func (m *SessionManager) Edit(ctx context.Context, name string, editor func(text []byte) ([]byte, error)) (EditResult, error) {
	draft, ok, err := m.draft(name)
	if err != nil {
		return EditResult{}, err
	}
	tip, err := m.store.Tip(ctx, name)
	if err != nil && (!ok || !errors.Is(err, domarkx.ErrNotFound)) {
		return EditResult{}, err
	}
	text, base := draft.Data, draft.Base
	if !ok {
		base = tip.ID
		if text, err = m.TextOf(ctx, tip.ID); err != nil {
			return EditResult{}, err
		}
	}
	var edited EditResult
	next, err := editor(text)
	if err != nil {
		return edited, err
	}
	same := bytes.Equal(next, text)
	if same && !ok {
		edited.Info = tip
		return edited, nil
	}
	edited.SaveResult, err = m.Save(ctx, SaveRequest{Name: name, Base: base, Data: next, Operation: "edit"})
	if err != nil {
		if !ok || !same {
			if kept := m.keepEdited(drafts.Draft{Name: name, Base: base, Problem: err.Error(), Data: next}, draft); kept != nil {
				return edited, errors.Join(err, fmt.Errorf("keeping the text as a draft: %w", kept))
			}
		}
		edited.Kept = true
		return edited, fmt.Errorf("%w; the text is kept as a draft; correct it with git domarkx edit %s", err, refname.Argument(name))
	}
	if ok {
		edited.Stale, err = drafts.Discard(m.draftsDir(), draft.Key, draft.After)
	}
	return edited, err
}

// keepEdited stores a text that cannot be saved as a draft. It replaces the one that the
// editor started with, but only refers to the first one, which a running mount may have.
func (m *SessionManager) keepEdited(d, from drafts.Draft) error {
	d.After = cmp.Or(from.After, from.Key)
	if err := drafts.PutBroken(m.draftsDir(), d); err != nil || from.After == "" {
		return err
	}
	_, err := drafts.Discard(m.draftsDir(), from.Key)
	return err
}

// MoveDrafts gives the drafts of a session that was renamed its new name. The error matches
// [drafts.ErrInUse] if a running mount has one.
func (m *SessionManager) MoveDrafts(from, to string) error {
	if _, ok, err := m.draft(from); err != nil || !ok {
		return err
	}
	return drafts.Rewrite(m.draftsDir(), func(d drafts.Draft) (drafts.Draft, bool) {
		moved := d.Name == from && d.State == drafts.Broken
		if moved {
			d.Name = to
		}
		return d, moved
	})
}
