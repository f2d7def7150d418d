package turns

import (
	"context"
	"errors"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/trust"
	"github.com/domarkx/domarkx/git-domarkx/engine/turns/journal"
	"github.com/domarkx/domarkx/plugins"
)

// An AppendRequest describes the message that [Manager.Append] adds.
type AppendRequest struct {
	Name string
	New  bool   // create the session if it does not exist
	Role string // "user", "assistant" or "system"
	Text string // Markdown

	Content []domarkx.Block // if not nil, used instead of Text
}

// Append adds a message to the end of a session. A system message is stored as a user message
// whose metadata names the role "system". An assistant message is linked to the workspace version
// that [Manager.replyLink] returns. If the session does not exist and r.New is false, the
// error matches [domarkx.ErrNotFound]. The cost does not depend on the length of the session.
func (m *Manager) Append(ctx context.Context, r AppendRequest) (domarkx.Info, error) {
	name, role := r.Name, domarkx.Role(r.Role)
	blocks := r.Content
	if blocks == nil {
		var err error
		if blocks, err = markdown.ParseContent(r.Text); err != nil {
			return domarkx.Info{}, err
		}
	}
	msg := domarkx.Message{Role: role, Content: blocks}
	if r.Role == "system" {
		role = domarkx.User
		metadata := jsonvalue.ObjectOf("role", r.Role)
		msg = domarkx.Message{Role: role, Content: blocks, Metadata: &metadata}
	}
	a := engine.Addition{Message: msg}
	if role == domarkx.Assistant {
		var err error
		if a.Link, err = m.replyLink(ctx, name); err != nil {
			return domarkx.Info{}, err
		}
	}
	return m.add(ctx, engine.Change{Name: name, Operation: "append"}, a, r.New, trust.Appended)
}

// add adds a message to the end of a session. If isNew is set, it creates a session that does not exist. extends returns what
// extends the trust to the message as it is stored. A message without an id gets one.
func (m *Manager) add(ctx context.Context, c engine.Change, a engine.Addition, isNew bool, extends func(domarkx.Message) trust.Extension) (domarkx.Info, error) {
	var err error
	if c.Author, c.Committer, err = m.env.Identity(ctx); err != nil {
		return domarkx.Info{}, err
	}
	if a.ID == (domarkx.ID{}) {
		a.ID = domarkx.NewID(0, c.Committer.When) // one id for all attempts of the update
	}
	var info domarkx.Info
	err = m.sessions.Update(ctx, c.Operation+" "+c.Name, func(tx *transaction.Tx) error {
		msg := a.Message
		tip, err := tx.Tip(ctx, c.Name)
		switch {
		case errors.Is(err, domarkx.ErrNotFound) && isNew:
			if err := tx.CheckName(ctx, c.Name); err != nil {
				return err
			}
			info, err = m.sessions.Begin(ctx, tx, c, a)
		case err == nil:
			info, msg, err = m.sessions.AppendTo(ctx, tx, tip, c, a)
		}
		if err != nil {
			return err
		}
		return tx.Set(ctx, c.Name, info, extends(msg))
	})
	info.Name = c.Name
	return info, err
}

// replyLink returns the workspace version to link to a new assistant message at the end of a session, or "" for none. It
// commits manual changes in the live directories and returns the version of the live workspace. If nothing is live, it
// returns the last version that the session links. It starts no resource, uses no network and waits for no lock, because a
// running tool may call it.
func (m *Manager) replyLink(ctx context.Context, session string) (string, error) {
	tip, err := m.store.TipOrNone(ctx, session)
	if err != nil || tip.ID == "" {
		return "", err
	}
	workspace, err := m.sessions.WorkspaceOf(ctx, session)
	if err != nil {
		return "", err
	}
	if v, err := m.commitDirectories(ctx, workspace); v != "" || err != nil {
		return v, err
	}
	for _, name := range []string{workspace, session} { // without any version, do not search long sessions
		if v, err := m.store.WorkspaceTipOrNone(ctx, name); err != nil {
			return "", err
		} else if v.ID != "" {
			return m.sessions.LinkAt(ctx, tip.ID, tip.Messages-1)
		}
	}
	return "", nil
}

// commitDirectories commits manual changes in the live directories of a workspace and returns the version of the live
// workspace. It returns "" if nothing is live, or if the version cannot be determined now: another process holds the
// workspace, a call or a load was interrupted, or a file cannot be stored. The next call repairs or reports these.
func (m *Manager) commitDirectories(ctx context.Context, workspace string) (string, error) {
	i, err := m.env.Workspaces.Instance(ctx, workspace)
	if errors.Is(err, domarkx.ErrNotFound) || err == nil && (i.Head == "" || i.Loading != "") {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if begun, err := journal.In(m.env.StateDir).Of(workspace); err != nil || len(begun) > 0 {
		return "", err // changes left by an interrupted call are not manual
	}
	tip, err := m.newest(ctx, workspace)
	if err != nil {
		return "", err
	}
	b, err := m.openPresent(ctx, workspace, true, plugins.Options{NoWait: true, Tip: tip})
	if err != nil {
		return "", ctx.Err()
	}
	err = b.derive(ctx)
	if err == nil {
		err = b.commitChanges(ctx)
	}
	if err := errors.Join(err, b.close(ctx)); err != nil {
		return "", ctx.Err()
	}
	return b.tip.ID, nil
}
