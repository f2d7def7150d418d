package engine

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/html"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/edit"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// Form is the format in which a session is shown.
type Form string

// The forms in which sessions can be shown.
const (
	Markdown Form = "md"
	JSON     Form = "json"
)

// Show writes a snapshot, or one of its messages, as Markdown or as JSON of the specification. The errors are those of
// [SessionManager.Resolve], and match [domarkx.ErrCorrupt] if the snapshot is damaged.
func (m *SessionManager) Show(ctx context.Context, r Revision, form Form, w io.Writer) error {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return err
	}
	if r.Message >= 0 {
		return m.WriteMessage(ctx, info.ID, r.Message, form, w)
	}
	return m.Write(ctx, info.ID, form, w)
}

// Write writes a snapshot by its id.
func (m *SessionManager) Write(ctx context.Context, id string, form Form, w io.Writer) error {
	v, err := view.Load(ctx, m.store, id)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(w, 1<<16)
	if form == Markdown {
		err = v.Write(ctx, buf)
	} else {
		err = m.writeJSON(ctx, id, v, buf)
	}
	if err != nil {
		return err
	}
	return buf.Flush()
}

// snapshotNamespace is the UUID namespace (RFC 9562, version 5) of snapshot ids that are derived
// from commits. The namespace is itself derived from a URL.
var snapshotNamespace = uuid.NewSHA1(uuid.NameSpaceURL, []byte("https://github.com/domarkx/domarkx#snapshot"))

// DerivedSnapshotID returns the snapshot_id of a snapshot whose header has none.
func DerivedSnapshotID(commit string) string {
	return uuid.NewSHA1(snapshotNamespace, []byte(commit)).String()
}

// deriveOwn sets a missing snapshot_id and import_timestamp of a header from its commit.
func deriveOwn(h *domarkx.Header, info domarkx.Info) {
	if h.SnapshotID == "" {
		h.SnapshotID = DerivedSnapshotID(info.ID)
	}
	if h.ImportTimestamp == "" {
		h.ImportTimestamp = time.Unix(info.Date, 0).UTC().Format(time.RFC3339)
	}
}

// addLink adds the workspace version to a message that is shown.
func addLink(msg *domarkx.Message, link string) {
	msg.Extra = jsonvalue.ObjectValue(msg.Extra...).With(domarkx.WorkspaceVersion, jsonvalue.StringValue(link)).Members()
}

// WriteMessage writes message k of a snapshot without reading the others. The error matches
// [domarkx.ErrCorrupt] if the message is damaged.
func (m *SessionManager) WriteMessage(ctx context.Context, id string, k int, form Form, w io.Writer) error {
	msg, e, conflict, err := m.messageAt(ctx, id, k)
	if err != nil {
		return err
	}
	if form == JSON {
		msg = edit.WithStatedAsMetadata(msg)
		shown := []domarkx.Entry{e}
		if err := m.SoundLinks(ctx, id, shown); err != nil {
			return err
		}
		if link := shown[0].Link; link != "" {
			addLink(&msg, link)
		}
		_, err = w.Write(view.PrettyJSON(msg.Value()))
		return err
	}
	data, recorded := []byte(nil), true
	switch {
	case conflict || e.Layout.Span > 0 || e.Layout.Within > 0:
		data = markdown.RenderMessage(msg)
	case e.Layout.Verbatim:
		data, err = m.store.Read(ctx, e.Source)
		recorded = sha256.Sum256(data) == e.Layout.Digest
	default:
		data, recorded = markdown.RenderRecorded(msg, e.Layout.Digest)
	}
	if err == nil && !recorded {
		err = view.DamagedMessage(k, e.ID)
	}
	if err == nil {
		_, err = w.Write(data)
	}
	return err
}

// messageAt returns message k of a snapshot as shown, its entry, and whether it is one text of a conflict.
func (m *SessionManager) messageAt(ctx context.Context, id string, k int) (msg domarkx.Message, e domarkx.Entry, conflict bool, err error) {
	if e, err = m.store.Entry(ctx, id, k); err != nil {
		return msg, e, false, fmt.Errorf("message %d: %w", k, err)
	}
	if msg, err = view.LoadMessage(ctx, m.store, e); err != nil || len(e.Past) == 0 {
		return msg, e, false, err
	}
	near, err := m.store.EntriesBetween(ctx, id, max(0, k-1), k+2)
	texts := slices.DeleteFunc(near, func(other domarkx.Entry) bool { return other.ID != e.ID })
	if conflict = len(texts) > 1; conflict {
		view.MarkConflict(&msg, e.Rev)
	}
	return msg, e, conflict, err
}

// Pages returns a snapshot as it is shown in a browser.
func (m *SessionManager) Pages(ctx context.Context, r Revision) (html.Session, domarkx.Info, error) {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return html.Session{}, info, err
	}
	v, err := view.Load(ctx, m.store, info.ID)
	if err != nil {
		return html.Session{}, info, err
	}
	header, err := v.Header(ctx)
	if err != nil {
		return html.Session{}, info, err
	}
	linked, err := m.linked(ctx, info.ID, v.Live)
	if err != nil {
		return html.Session{}, info, err
	}
	p := html.Session{Name: r.Name, Snapshot: info.ID, Header: header, Messages: shownMessages{ctx, v}, File: m.attachedFile(ctx, info), Version: func(k int) string {
		if link := v.Live.At(k).Link; linked[link] {
			return link
		}
		return ""
	}, Size: func(k int) int64 { return v.Layout(k + 1).Size }}
	if r.Message >= 0 {
		if r.Message >= p.Messages.Len() {
			return html.Session{}, info, fmt.Errorf("%s: %w: the snapshot has %d messages", r, domarkx.ErrNotFound, p.Messages.Len())
		}
		p.Messages = oneMessage{p.Messages, r.Message}
	}
	return p, info, nil
}

// oneMessage is a list of one message of another list.
type oneMessage struct {
	all format.Messages
	k   int
}

func (oneMessage) Len() int { return 1 }

func (o oneMessage) At(int) (domarkx.WrittenMessage, error) { return o.all.At(o.k) }

// SoundLinks clears the links of messages that are not trustworthy: those to versions that are not parents in the session's
// history. Only calls by this program create such parents, but anybody can write a link into a message.
func (m *SessionManager) SoundLinks(ctx context.Context, snapshot string, messages []domarkx.Entry) error {
	linked, err := m.linked(ctx, snapshot, domarkx.EntryList(messages))
	if err != nil {
		return err
	}
	for i := range messages {
		if !linked[messages[i].Link] {
			messages[i].Link = ""
		}
	}
	return nil
}

// linked returns the links of a snapshot's messages that are trustworthy.
func (m *SessionManager) linked(ctx context.Context, snapshot string, messages domarkx.Entries) (map[string]bool, error) {
	var links []string
	seen := map[string]bool{"": true}
	for i := messages.Len() - 1; i >= 0; i-- { // the newest are found first
		if link := messages.At(i).Link; !seen[link] {
			seen[link] = true
			links = append(links, link)
		}
	}
	if len(links) == 0 {
		return nil, nil
	}
	return m.store.Linked(ctx, snapshot, links)
}
