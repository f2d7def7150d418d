package mountd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/fusefs"
	"github.com/domarkx/domarkx/fusefs/sessions"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns"
	"github.com/domarkx/domarkx/gitstore"
)

// Sessions adapts the repository's sessions to the mount.
type Sessions struct {
	Store    *gitstore.Store
	Sessions *engine.SessionManager
	Turns    *turns.Manager
}

// writable returns the options with which a mount can change sessions. The journal of saves is in the directory drafts.
func (s Sessions) writable(drafts string) fusefs.Options {
	return fusefs.Options{Sessions: s, Snapshots: s, Attachments: s.Store,
		Changing: fusefs.Changing{Saver: s, Attacher: s, Drafts: drafts}}
}

// Info returns the newest snapshot of a session.
func (s Sessions) Info(ctx context.Context, name string) (domarkx.Info, error) {
	info, err := s.Store.TipOrNone(ctx, name)
	if err == nil && info.ID == "" || errors.Is(err, domarkx.ErrInvalid) {
		err = fmt.Errorf("session %q: %w", name, domarkx.ErrNotFound)
	}
	return info, err
}

// List returns the sessions whose names start with prefix. It skips sessions that cannot be read.
func (s Sessions) List(ctx context.Context, prefix string) ([]domarkx.Info, error) {
	list, err := s.Store.ListBelow(ctx, prefix)
	if list == nil {
		return nil, err
	}
	return list, nil
}

// History returns a session's newest snapshot and all its ancestors, parents before children.
func (s Sessions) History(ctx context.Context, name string) ([]domarkx.Info, error) {
	tip, err := s.Info(ctx, name)
	if err != nil {
		return nil, err
	}
	var list []domarkx.Info
	for info, err := range s.Store.Ancestors(ctx, tip.ID) {
		if err != nil {
			return nil, err
		}
		list = append(list, info)
	}
	slices.Reverse(list)
	return list, nil
}

// Render returns a snapshot as a document.
func (s Sessions) Render(ctx context.Context, id string, form fusefs.Form) ([]byte, error) {
	var b bytes.Buffer
	err := s.Sessions.Write(ctx, id, engine.Form(form), &b)
	return b.Bytes(), err
}

// Size returns the size of a snapshot in a form, in bytes.
func (s Sessions) Size(ctx context.Context, id string, form fusefs.Form) (int64, error) {
	return s.Sessions.Size(ctx, id, engine.Form(form))
}

// Roles returns the roles of a snapshot's messages.
func (s Sessions) Roles(ctx context.Context, id string) ([]domarkx.Role, error) {
	return s.Store.Roles(ctx, id)
}

// Message returns one message of a snapshot.
func (s Sessions) Message(ctx context.Context, id string, k int, form fusefs.Form) ([]byte, error) {
	var b bytes.Buffer
	err := s.Sessions.WriteMessage(ctx, id, k, engine.Form(form), &b)
	return b.Bytes(), err
}

// Link returns the workspace version that a message is linked to, or "". A link counts
// only if the version is a parent in the session's history.
func (s Sessions) Link(ctx context.Context, id string, k int) (string, error) {
	e, err := s.Store.Entry(ctx, id, k)
	if err != nil || e.Link == "" {
		return "", err
	}
	linked, err := s.Store.Linked(ctx, id, []string{e.Link})
	if !linked[e.Link] {
		return "", err
	}
	return e.Link, nil
}

// CheckName returns domarkx.ErrInvalid or domarkx.ErrExists if a new session cannot have this name.
func (s Sessions) CheckName(ctx context.Context, name string) error {
	return s.Sessions.Update(ctx, "", func(tx *transaction.Tx) error { return tx.CheckName(ctx, name) })
}

// Save creates a snapshot from a saved document.
func (s Sessions) Save(ctx context.Context, name, base string, data []byte) (sessions.SaveResult, error) {
	saved, err := s.Sessions.Save(ctx, engine.SaveRequest{Name: name, Base: base, Data: data, Operation: "save"})
	return sessions.SaveResult{Info: saved.Info, Saved: saved.Document, Merged: saved.Merged}, err
}

// IsImage reports whether data is an image that a session can attach.
func (Sessions) IsImage(data []byte) bool { return engine.IsImage(data) }

// Shown returns the files that a snapshot displays as images.
func (s Sessions) Shown(ctx context.Context, id string) ([]string, error) {
	return s.Sessions.ImagesShown(ctx, id)
}

// Attach adds a file to a session.
func (s Sessions) Attach(ctx context.Context, session, path string, data []byte) (before, after domarkx.Info, err error) {
	return s.Sessions.Attach(ctx, session, path, bytes.NewReader(data))
}

// Settle completes or undoes operations of killed processes.
func (s Sessions) Settle(ctx context.Context) error {
	return s.Sessions.Update(ctx, "", func(*transaction.Tx) error { return nil })
}

// Remove moves a session to the trash.
func (s Sessions) Remove(ctx context.Context, name string) error {
	_, err := s.Turns.Remove(ctx, name, nil)
	return err
}

// Rename changes the name of a session.
func (s Sessions) Rename(ctx context.Context, from, to string) error {
	_, err := s.Turns.Rename(ctx, from, to)
	return err
}
