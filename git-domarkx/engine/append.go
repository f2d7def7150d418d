package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/domarkx/domarkx/gitstore"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// An AppendRequest describes the message that [SessionManager.Append] adds.
type AppendRequest struct {
	Name string
	New  bool   // create the session if it does not exist
	Role string // "user", "assistant" or "system"
	Text string // Markdown
}

// Append adds a message to the end of a session. A system message is stored as a user message
// whose metadata names the role "system". An assistant message is linked to the workspace version
// that [SessionManager.replyLink] returns. If the session does not exist and r.New is false, the
// error matches [domarkx.ErrNotFound]. The cost does not depend on the length of the session.
func (m *SessionManager) Append(ctx context.Context, r AppendRequest) (domarkx.Info, error) {
	name, role := r.Name, domarkx.Role(r.Role)
	blocks, err := markdown.ParseContent(r.Text)
	if err != nil {
		return domarkx.Info{}, err
	}
	msg := domarkx.Message{Role: role, Content: blocks}
	if r.Role == "system" {
		role = domarkx.User
		metadata := domarkx.ObjectValue(domarkx.Member{Name: "role", Value: domarkx.StringValue(r.Role)})
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
	c := change{name: name, operation: "append", author: author, committer: committer}
	var info domarkx.Info
	err = m.Update(ctx, "append "+name, func(tx *gitstore.Tx) error {
		tip, err := tx.Tip(ctx, name)
		switch {
		case errors.Is(err, domarkx.ErrNotFound) && !r.New:
			return err
		case errors.Is(err, domarkx.ErrNotFound):
			if err := tx.CheckName(ctx, name); err != nil {
				return err
			}
			info, err = m.begin(ctx, tx, c, addition{message: msg, id: id})
		case err == nil:
			info, err = m.appendTo(ctx, tx, tip, c, addition{message: msg, id: id, link: link})
		}
		if err != nil {
			return err
		}
		info.Name = name
		if err := m.trustAppended(ctx, tip, info, msg); err != nil {
			return err
		}
		return tx.Set(ctx, name, info.ID)
	})
	return info, err
}

// begin commits a new session with one message.
func (m *SessionManager) begin(ctx context.Context, tx *gitstore.Tx, c change, a addition) (domarkx.Info, error) {
	id, msg := a.id, a.message
	e := &edition{blobs: m.store, date: c.committer.When.Unix(), newID: func(uint32) domarkx.ID { return id },
		doc: &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{markdown.WriteMessage(msg)}}}
	state, _, err := e.apply(ctx, tx)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit, err := m.commitOf(ctx, tx, state, c, appendSubject(c.operation, msg))
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Attachments, commit.Files = a.attachments, a.files
	return tx.Commit(ctx, commit)
}

// An addition is a message to append to a session.
type addition struct {
	message     domarkx.Message
	id          domarkx.ID
	link        string // the version that its calls produced; "" for none
	attachments []domarkx.Attachment
	files       []domarkx.AttachedFile // their contents are among the attachments
}

func (m *SessionManager) appendTo(ctx context.Context, tx *gitstore.Tx, tip domarkx.Info, c change, a addition) (domarkx.Info, error) {
	msg := a.message
	headers, err := m.store.Header(ctx, tip.ID)
	if err != nil {
		return domarkx.Info{}, err
	}
	entry := entryOf(markdown.WriteMessage(msg), c.committer.When.Unix())
	entry.ID, entry.Link = a.id, a.link
	tail, _, before, err := m.tail(ctx, tip, headers)
	if err != nil {
		return domarkx.Info{}, err
	}
	if n := len(tail.Thread.Live); n > 0 {
		entry.After = tail.Thread.Live[n-1].ID
	}
	commit := domarkx.Commit{Parents: []string{tip.ID}, State: &domarkx.State{}, Operation: c.operation, Subject: appendSubject(c.operation, msg),
		Preview: tip.Preview, Author: c.author, Committer: c.committer, Attachments: a.attachments, Files: a.files}
	if a.link != "" {
		commit.Parents = append(commit.Parents, a.link)
	}
	if tip.Messages == 0 {
		commit.Preview = preview(msg)
	}
	if commit.State.Headers, err = m.ownedHeaders(ctx, headers); err != nil {
		return domarkx.Info{}, err
	}
	if commit.State.Headers != nil { // the preamble may have been rewritten
		tail.Headers = commit.State.Headers
	}
	tail.Thread.Live = append(tail.Thread.Live, entry)
	grown, err := newView(ctx, m.store, tail)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Bytes = tip.Bytes + grown.size() - before
	commit.State.Thread.Live = []domarkx.Entry{entry}
	return tx.Append(ctx, commit)
}

// tail returns a state with the last messages of a session, the view of that state and the size
// of its document in bytes. It loads as many messages as decide the separator between the session
// and a new message.
func (m *SessionManager) tail(ctx context.Context, tip domarkx.Info, headers []domarkx.HeaderEntry) (*domarkx.State, *view, int64, error) {
	state := &domarkx.State{Headers: headers}
	if tip.Messages > 0 {
		last, err := m.store.Entry(ctx, tip.ID, tip.Messages-1)
		if err != nil {
			return nil, nil, 0, err
		}
		from := max(0, tip.Messages-2-last.Layout.Within) // one more message, to detect a conflict
		for k := from; k < tip.Messages-1; k++ {
			e, err := m.store.Entry(ctx, tip.ID, k)
			if err != nil {
				return nil, nil, 0, err
			}
			state.Thread.Live = append(state.Thread.Live, e)
		}
		state.Thread.Live = append(state.Thread.Live, last)
	}
	v, err := newView(ctx, m.store, state)
	if err != nil {
		return nil, nil, 0, err
	}
	return state, v, v.size(), nil
}

// ownedHeaders returns the headers without the snapshot_id and import_timestamp that an imported
// document brought for its own snapshot, or nil if they have neither.
func (m *SessionManager) ownedHeaders(ctx context.Context, headers []domarkx.HeaderEntry) ([]domarkx.HeaderEntry, error) {
	h, err := loadHeader(ctx, m.store, headers[:1])
	if err != nil || !hasOwn(h) {
		return nil, err
	}
	return append([]domarkx.HeaderEntry{withoutOwn(headers[0], h)}, headers[1:]...), nil
}

// hasOwn reports whether a header contains fields that belong to a single snapshot.
func hasOwn(h domarkx.Header) bool { return h.SnapshotID != "" || h.ImportTimestamp != "" }

// withoutOwn returns a header entry without the fields that belong to a single snapshot. A
// preamble that the author wrote verbatim keeps its text.
func withoutOwn(entry domarkx.HeaderEntry, h domarkx.Header) domarkx.HeaderEntry {
	h.SnapshotID, h.ImportTimestamp = "", ""
	entry.JSON = domarkx.Blob{Data: prettyJSON(h.Value())}
	if !entry.Layout.Verbatim {
		entry.Layout, entry.Source = markdown.WriteHeader(h).Layout, domarkx.Blob{}
	}
	return entry
}

func appendSubject(operation string, msg domarkx.Message) string {
	line := firstLine(msg)
	if runes := []rune(line); len(runes) > 60 {
		line = string(runes[:59]) + "…"
	}
	if line == "" {
		return fmt.Sprintf("%s %s message", operation, msg.Role)
	}
	return fmt.Sprintf("%s %s: %s", operation, msg.Role, line)
}
