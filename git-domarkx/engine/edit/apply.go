// Package edit computes the next state of a session from a document: which messages are unchanged,
// changed, new or removed, and which ids, links and headers they have.
package edit

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// An Edit computes the next state of a session from a document.
type Edit struct {
	Blobs view.Blobs
	Base  *view.View // state before the edit; nil for a new session
	Doc   *domarkx.Document
	// Messages holds the messages of the document if Doc contains none.
	Messages format.Messages
	Date     int64 // date of new and changed messages, in Unix seconds
	// Derived means that the ids of new messages are derived from the document, so that two imports
	// of a file produce the same session. Otherwise new messages get fresh ids.
	Derived bool
	NewID   func(clock uint32) domarkx.ID

	Keys    []domarkx.Key   // keys of the header and messages of the base
	Scanned []scanned       // the document's messages; nil before the first scan
	Shared  *SharedMessages // messages shared with other conversations of the document; may be nil

	Links
	Beside
}

// Links are the links of an edit's messages to workspace versions.
type Links struct {
	Linker *Linker      // links messages that name files of a home; may be nil
	Stated *StatedLinks // links messages with a workspace_version; may be nil

	moved     map[int]string  // message → version that it states, and that its metadata still contains
	NewLinks  []string        // versions that the next snapshot links for the first time
	linkedNow map[string]bool // NewLinks as a set
}

// Beside is what an edit stores beside the messages.
type Beside struct {
	// Origin is the tree of the document if it is one of another program, which exports return
	// unchanged. An edit of the header clears it, because the original would no longer fit.
	Origin      string
	Original    *Original              // stores the document with the messages of a new session; may be nil
	Attachments []domarkx.Attachment   // attachments that the base lacks
	Files       []domarkx.AttachedFile // files that the base lacks; Attachments has their contents

	// Verify, if not nil, returns an error if the document has changed since it was read.
	Verify func() error
}

// New returns an Edit that changes base to the content of doc. base is nil for a new session. The
// dates of new texts are the time of the committer.
func New(blobs view.Blobs, base *view.View, doc *domarkx.Document, committer domarkx.Signature) *Edit {
	return &Edit{Blobs: blobs, Base: base, Doc: doc, Date: committer.When.Unix(),
		NewID: func(clock uint32) domarkx.ID { return domarkx.NewID(clock, committer.When) }}
}

// Len returns the number of messages in the document.
func (e *Edit) Len() int {
	if e.Messages != nil {
		return e.Messages.Len()
	}
	return len(e.Doc.Conversation)
}

// A scanned holds the properties of a message that an alignment compares.
type scanned struct {
	Key    domarkx.Key // key of the layout, see [view.LayoutKey]
	Digest domarkx.Key // digest of its bytes
	isUser bool
}

// basedMessages are the messages of a document. Unchanged messages come from the base.
type basedMessages interface {
	// Base returns the index of message j in the base, or -1 if it is not from there.
	Base(j int) int
}

// Scan fills e.scanned from all messages of the document. Later calls do nothing.
func (e *Edit) Scan() error {
	if e.Scanned != nil {
		return nil
	}
	all := make([]scanned, e.Len())
	restored, _ := e.Messages.(basedMessages)
	for j := range all {
		if restored != nil && e.Keys != nil {
			if k := restored.Base(j); k >= 0 { // unchanged: no need to read it
				entry := e.Base.Live.At(k)
				all[j] = scanned{e.Keys[k+1], entry.Layout.Digest, entry.Role == domarkx.User}
				continue
			}
		}
		role, layout, err := e.outline(j)
		if err != nil {
			return err
		}
		all[j] = scanned{view.LayoutKey(layout), layout.Digest, role == domarkx.User}
	}
	e.Scanned = all
	return nil
}

// At returns message j of the document.
func (e *Edit) At(j int) (domarkx.WrittenMessage, error) {
	if e.Messages == nil {
		return e.Doc.Conversation[j], CheckDepth(j, e.Doc.Conversation[j].Message)
	}
	msg, err := e.Messages.At(j)
	if err == nil {
		keepStated(&msg)
		err = CheckDepth(j, msg.Message)
	}
	if err == nil {
		completeMessage(&msg)
	}
	return msg, err
}

// CheckDepth rejects a message that is nested too deeply to be read again after it is stored. The
// error matches [domarkx.ErrInvalid].
func CheckDepth(j int, m domarkx.Message) error {
	if m.Depth() <= domarkx.MaxMessageDepth {
		return nil
	}
	return fmt.Errorf("message %d: %w: its content is nested deeper than %d levels", j, domarkx.ErrInvalid, domarkx.MaxMessageDepth)
}

// A NextState is the next state of a session. The caller must iterate over live, exactly once, before it calls dead.
type NextState struct {
	Headers []domarkx.HeaderEntry
	Live    iter.Seq2[domarkx.Revised, error]
	Dead    func() []domarkx.Tombstone
	Changed bool // whether the state differs from the base
}

// An Includer stores the files that a document includes (package transaction).
type Includer interface {
	StoreIncludes(ctx context.Context, files []domarkx.Include) (string, error)
}

// Apply returns the next state, and whether it differs from the base.
func (e *Edit) Apply(ctx context.Context, objects Includer) (*domarkx.State, bool, error) {
	next, err := e.Next(ctx, objects)
	if err != nil {
		return nil, false, err
	}
	state := &domarkx.State{Headers: next.Headers}
	for m, err := range next.Live {
		if err != nil {
			return nil, false, err
		}
		state.Thread.Live = append(state.Thread.Live, m.Entry)
	}
	state.Thread.Dead = next.Dead()
	return state, next.Changed, nil
}

// Next prepares the next state.
func (e *Edit) Next(ctx context.Context, objects Includer) (NextState, error) {
	if err := e.SettleStated(ctx); err != nil {
		return NextState{}, err
	}
	Complete(e.Doc)
	if e.Base != nil {
		var err error
		if e.Keys, err = e.Base.Keys(ctx); err != nil {
			return NextState{}, err
		}
	}
	next, err := e.thread(ctx)
	if err != nil {
		return NextState{}, err
	}
	if e.Doc.Header.Value().Depth() > jsonvalue.MaxDepth { // it could not be read again
		return NextState{}, fmt.Errorf("front matter and configuration: %w: nested deeper than %d levels", domarkx.ErrInvalid, jsonvalue.MaxDepth)
	}
	headers, changed, err := e.Headers(ctx, objects)
	next.Headers, next.Changed = headers, next.Changed || changed
	return next, err
}

// Complete sets the canonical layout of all parts of a document that was not written in Markdown.
func Complete(doc *domarkx.Document) {
	if doc.Preamble.Digest == ([32]byte{}) {
		doc.Preamble = markdown.WriteHeader(doc.Header)
	}
	for i := range doc.Conversation {
		completeMessage(&doc.Conversation[i])
	}
}

func completeMessage(m *domarkx.WrittenMessage) {
	if m.Digest == ([32]byte{}) && m.Within == 0 {
		m.Written = markdown.WriteMessage(m.Message).Written
	}
}

// EntryOf returns the entry for a message as the document writes it.
func EntryOf(m domarkx.WrittenMessage, date int64) domarkx.Entry {
	space := make([]byte, 0, m.Layout.Size+m.Layout.Size/4+256) // enough for most messages
	e := domarkx.Entry{Role: m.Role, Date: date, Layout: m.Layout, JSON: domarkx.Blob{Data: view.AppendPretty(space, m.Message.Value())}}
	if m.Verbatim {
		e.Source = domarkx.Blob{Data: view.NotNil(m.Bytes)}
	}
	return e
}

// KeepPreamble keeps the bytes of the preamble. It is called when the header will hold fields
// that the preamble does not state, which a canonical rendering would show.
func KeepPreamble(doc *domarkx.Document) {
	if !doc.Preamble.Verbatim {
		doc.Preamble.Bytes = markdown.RenderHeader(doc.Header)
		doc.Preamble.Verbatim = true
	}
}

// Headers returns the headers after the edit.
func (e *Edit) Headers(ctx context.Context, objects Includer) ([]domarkx.HeaderEntry, bool, error) {
	next := domarkx.HeaderEntry{Origin: e.Origin}
	header := e.Doc.Header
	var old []domarkx.HeaderEntry
	if view.HasOwnFields(header) && e.Origin == "" && e.Original == nil {
		KeepPreamble(e.Doc) // later snapshots keep its bytes, but not its snapshot_id
	}
	if e.Base != nil {
		old = e.Base.Headers
		was, err := e.Base.Header(ctx)
		if err != nil {
			return nil, false, err
		}
		if !header.HasSourceFile && was.HasSourceFile {
			KeepPreamble(e.Doc)
			header.SourceFile, header.HasSourceFile = was.SourceFile, true
		}
		same := (next.Origin == "" || next.Origin == old[0].Origin) && e.Keys[0] == view.LayoutKey(e.Doc.Preamble.Layout) && sameIncludes(ctx, e.Base, e.Doc.Includes)
		if same && bytes.Equal(e.normal(header), e.normal(was)) {
			return e.unchanged(old, was), false, nil
		}
		if !e.Derived {
			header.SnapshotID, header.ImportTimestamp = "", ""
		}
	}
	next.JSON, next.Layout = domarkx.Blob{Data: view.PrettyJSON(header.Value())}, e.Doc.Preamble.Layout
	if next.Layout.Verbatim {
		next.Source = domarkx.Blob{Data: view.NotNil(e.Doc.Preamble.Bytes)}
	}
	if len(e.Doc.Includes) > 0 {
		var err error
		if next.Includes, err = objects.StoreIncludes(ctx, e.Doc.Includes); err != nil {
			return nil, false, err
		}
	}
	return domarkx.ReviseHeader(old, next, view.NormalHeader(header)), true, nil
}

// unchanged returns the headers after an edit that did not change them. was is the decoded header as the base shows it.
func (e *Edit) unchanged(old []domarkx.HeaderEntry, was domarkx.Header) []domarkx.HeaderEntry {
	if e.Derived || len(old) > 1 || !view.HasOwnFields(was) {
		return old
	}
	entry := old[0]
	entry.Layout, entry.Source = e.Doc.Preamble.Layout, domarkx.Blob{Data: view.NotNil(e.Doc.Preamble.Bytes)}
	return []domarkx.HeaderEntry{view.WithoutOwnFields(entry, was)}
}

// normal returns the form of a header that is compared to find changes. The snapshot_id and
// import_timestamp count only in imports, because no other edit can set them.
func (e *Edit) normal(h domarkx.Header) []byte {
	if e.Derived {
		return view.PrettyJSON(h.Value())
	}
	return view.NormalHeader(h)
}

func sameIncludes(ctx context.Context, base *view.View, files []domarkx.Include) bool {
	old, err := base.Includes(ctx)
	return err == nil && markdown.IncludesID(old) == markdown.IncludesID(files)
}

// Warnings returns a warning for each version that could not be linked. path is the document.
func (s *StatedLinks) Warnings(path string) []error {
	if s == nil {
		return nil
	}
	all := make([]error, len(s.missing))
	for i, err := range s.missing {
		all[i] = fmt.Errorf("%s: %w", path, err)
	}
	return all
}
