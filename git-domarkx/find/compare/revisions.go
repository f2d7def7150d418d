// Package compare shows what differs between snapshots of sessions, and between versions of workspaces.
package compare

import (
	"bytes"
	"context"
	"errors"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/git-domarkx/engine"
)

// Revisions returns a unified diff of two revisions as Markdown. It is empty if they are the same. The
// errors are those of [engine.SessionManager.Resolve].
func Revisions(ctx context.Context, sessions *engine.SessionManager, a, b engine.Revision, nameA, nameB string) ([]byte, error) {
	var text [2]bytes.Buffer
	for i, r := range []engine.Revision{a, b} {
		if err := sessions.Show(ctx, r, engine.Markdown, &text[i]); err != nil {
			return nil, err
		}
	}
	return diff.Diff(nameA, text[0].Bytes(), nameB, text[1].Bytes()), nil
}

// Change returns a unified diff between a snapshot and its predecessor. For the first snapshot of
// a session, the diff contains all of it.
func Change(ctx context.Context, sessions *engine.SessionManager, info domarkx.Info) ([]byte, error) {
	now := engine.Revision{Name: info.Name, ID: info.ID, Message: -1}
	before := now
	before.Back = 1
	var text [2]bytes.Buffer
	err := sessions.Show(ctx, before, engine.Markdown, &text[0])
	if err == nil || errors.Is(err, domarkx.ErrNotFound) {
		err = sessions.Show(ctx, now, engine.Markdown, &text[1])
	}
	return diff.Diff(before.String(), text[0].Bytes(), now.String(), text[1].Bytes()), err
}
