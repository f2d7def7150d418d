package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// Begin commits a new session with one message.
func (m *SessionManager) Begin(ctx context.Context, tx *transaction.Tx, c Change, a Addition) (domarkx.Info, error) {
	kept, err := keep(ctx, tx, c.Name, a)
	if err != nil {
		return domarkx.Info{}, err
	}
	msg := kept.message
	e := edit.New(m.store, nil, &domarkx.Document{Header: domarkx.NewHeader(), Conversation: []domarkx.WrittenMessage{markdown.WriteMessage(msg)}}, c.Committer)
	e.NewID = func(uint32) domarkx.ID { return a.ID }
	state, _, err := e.Apply(ctx, tx)
	if err != nil {
		return domarkx.Info{}, err
	}
	commit, err := m.CommitOf(ctx, tx, state, c, appendSubject(c.Operation, msg))
	if err != nil {
		return domarkx.Info{}, err
	}
	commit.Attachments, commit.Files = kept.attachments, kept.files
	return tx.Commit(ctx, kept.filter, commit)
}

// AppendTo commits a snapshot that adds a message to tip. It does not update the session's ref. It returns the message as it is
// stored: in a redacted session without its secrets.
func (m *SessionManager) AppendTo(ctx context.Context, tx *transaction.Tx, tip domarkx.Info, c Change, a Addition) (info domarkx.Info, msg domarkx.Message, err error) {
	kept, err := keep(ctx, tx, c.Name, a)
	if msg = kept.message; err != nil {
		return info, msg, err
	}
	tail, err := m.Tail(ctx, tip)
	if err != nil {
		return info, msg, err
	}
	entry := edit.EntryOf(markdown.WriteMessage(msg), c.Committer.When.Unix())
	entry.ID, entry.Link = a.ID, a.Link
	if n := len(tail.State.Thread.Live); n > 0 {
		entry.After = tail.State.Thread.Live[n-1].ID
	}
	commit := domarkx.Commit{State: &domarkx.State{Thread: domarkx.Thread{Live: []domarkx.Entry{entry}}}, Operation: c.Operation, Subject: appendSubject(c.Operation, msg),
		Author: c.Author, Committer: c.Committer, Attachments: kept.attachments, Files: kept.files}
	if a.Link != "" {
		commit.Parents = []string{a.Link}
	}
	if tip.Messages == 0 {
		commit.Preview = view.Preview(msg)
	}
	if commit.State.Headers, err = m.OwnedHeaders(ctx, tail.State.Headers); err != nil { // the preamble may be rewritten
		return info, msg, err
	}
	info, err = tail.Append(ctx, tx, kept.filter, commit)
	return info, msg, err
}

// A Tail is the end of a session: as many of its last messages as decide the separator between the session and a new message.
type Tail struct {
	State *domarkx.State
	View  *view.View
	tip   domarkx.Info
}

// Tail returns the end of a session.
func (m *SessionManager) Tail(ctx context.Context, tip domarkx.Info) (t Tail, err error) {
	t = Tail{State: &domarkx.State{}, tip: tip}
	if t.State.Headers, err = m.store.Header(ctx, tip.ID); err != nil {
		return t, err
	}
	if tip.Messages > 0 {
		last, err := m.store.Entry(ctx, tip.ID, tip.Messages-1)
		if err != nil {
			return t, err
		}
		from := max(0, tip.Messages-2-last.Layout.Within) // one more message, to detect a conflict
		if t.State.Thread.Live, err = m.store.EntriesBetween(ctx, tip.ID, from, tip.Messages); err != nil {
			return t, err
		}
	}
	t.View, err = view.New(ctx, m.store, t.State)
	return t, err
}

// Append commits the successor of the session with the messages of c, and with its headers, unless these are nil. It adds the
// session to the parents, and sets the size, and the preview unless c has one.
func (t Tail) Append(ctx context.Context, tx *transaction.Tx, f transaction.Filter, c domarkx.Commit) (domarkx.Info, error) {
	grown := &domarkx.State{Headers: t.State.Headers}
	if c.State.Headers != nil {
		grown.Headers = c.State.Headers
	}
	grown.Thread.Live = slices.Concat(t.State.Thread.Live, c.State.Thread.Live)
	now, err := view.New(ctx, tx, grown)
	if err != nil {
		return domarkx.Info{}, err
	}
	c.Parents = append([]string{t.tip.ID}, c.Parents...)
	c.Preview, c.Bytes = cmp.Or(c.Preview, t.tip.Preview), t.tip.Bytes+now.Size()-t.View.Size()
	return tx.Append(ctx, f, c)
}

// OwnedHeaders returns the headers without the snapshot_id and import_timestamp that an imported
// document brought for its own snapshot, or nil if they have neither.
func (m *SessionManager) OwnedHeaders(ctx context.Context, headers []domarkx.HeaderEntry) ([]domarkx.HeaderEntry, error) {
	h, err := view.LoadHeader(ctx, m.store, headers[:1])
	if err != nil || !view.HasOwnFields(h) {
		return nil, err
	}
	return append([]domarkx.HeaderEntry{view.WithoutOwnFields(headers[0], h)}, headers[1:]...), nil
}

func appendSubject(operation string, msg domarkx.Message) string {
	line := view.FirstLine(msg)
	if runes := []rune(line); len(runes) > 60 {
		line = string(runes[:59]) + "…"
	}
	if line == "" {
		return fmt.Sprintf("%s %s message", operation, msg.Role)
	}
	return fmt.Sprintf("%s %s: %s", operation, msg.Role, line)
}

// An Addition is a message to append to a session, with what belongs to it. All of it may have secrets, which are not stored
// in a redacted session.
type Addition struct {
	Message domarkx.Message
	ID      domarkx.ID
	Link    string   // the workspace version that the message's calls produced; "" for none
	Files   []File   // files to attach
	Extra   [][]byte // other attachments, which the message names by their SHA-256

	Attachments []domarkx.Attachment // the outputs of calls, which the transaction has stored already
}

// A File is a file to attach to a session.
type File struct {
	Path string // in the session; see [domarkx.CheckFilePath]
	Data []byte
}

// A keptAddition is an addition as it is stored.
type keptAddition struct {
	filter      transaction.Filter // with which secrets were replaced in it
	message     domarkx.Message
	attachments []domarkx.Attachment
	files       []domarkx.AttachedFile
	moved       map[string]string // SHA-256 of an attachment → that of its redacted form
}

// keep stores the attachments of an addition to a session without secrets, and returns the addition as it is stored.
func keep(ctx context.Context, tx *transaction.Tx, session string, a Addition) (kept keptAddition, err error) {
	kept = keptAddition{message: a.Message, attachments: a.Attachments, moved: map[string]string{}}
	if kept.filter, err = tx.Filter(ctx, session); err != nil {
		return kept, err
	}
	for _, data := range a.Extra {
		if _, _, err := kept.attach(ctx, tx, data); err != nil {
			return kept, err
		}
	}
	for _, file := range a.Files {
		sum, size, err := kept.attach(ctx, tx, file.Data)
		if err != nil {
			return kept, err
		}
		kept.files = append(kept.files, domarkx.AttachedFile{Path: file.Path, SHA256: sum, Size: size})
	}
	if kept.message, err = kept.filter.Message(ctx, a.Message); err != nil || len(kept.moved) == 0 {
		return kept, err
	}
	text := string(view.PrettyJSON(kept.message.Value()))
	for from, to := range kept.moved {
		text = strings.ReplaceAll(text, from, to)
	}
	value, err := jsonvalue.ParseValue([]byte(text))
	if err == nil {
		kept.message, err = domarkx.ParseMessage(value, "")
	}
	return kept, err
}

// attach stores an attachment and returns its SHA-256 and its size in bytes.
func (k *keptAddition) attach(ctx context.Context, tx *transaction.Tx, data []byte) (sum string, size int64, err error) {
	a, size, err := tx.StoreAttachment(ctx, k.filter, bytes.NewReader(data))
	if err != nil {
		return "", 0, err
	}
	before := sha256.Sum256(data)
	if name := hex.EncodeToString(before[:]); name != a.SHA256 {
		k.moved[name] = a.SHA256
	}
	k.attachments = append(k.attachments, a)
	return a.SHA256, size, nil
}
