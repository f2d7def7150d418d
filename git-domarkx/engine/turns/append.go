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
		metadata := jsonvalue.ObjectValue(jsonvalue.Member{Name: "role", Value: jsonvalue.StringValue(r.Role)})
		msg = domarkx.Message{Role: role, Content: blocks, Metadata: &metadata}
	}
	author, committer, err := m.env.Identity(ctx)
	if err != nil {
		return domarkx.Info{}, err
	}
	link := ""
	if role == domarkx.Assistant {
		if link, err = m.replyLink(ctx, name); err != nil {
			return domarkx.Info{}, err
		}
	}
	id := domarkx.NewID(0, committer.When) // one id for all attempts of the update
	c := engine.Change{Name: name, Operation: "append", Author: author, Committer: committer}
	var info domarkx.Info
	err = m.sessions.Update(ctx, "append "+name, func(tx *transaction.Tx) error {
		tip, err := tx.Tip(ctx, name)
		switch {
		case errors.Is(err, domarkx.ErrNotFound) && !r.New:
			return err
		case errors.Is(err, domarkx.ErrNotFound):
			if err := tx.CheckName(ctx, name); err != nil {
				return err
			}
			info, err = m.sessions.Begin(ctx, tx, c, engine.Addition{Message: msg, ID: id})
		case err == nil:
			info, msg, err = m.sessions.AppendTo(ctx, tx, tip, c, engine.Addition{Message: msg, ID: id, Link: link})
		}
		if err != nil {
			return err
		}
		return tx.Set(ctx, name, info, trust.Appended(msg))
	})
	info.Name = name
	return info, err
}
