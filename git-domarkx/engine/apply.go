package engine

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
	"github.com/domarkx/domarkx/gitstore"
)

// An edition computes the next state of a session from a document.
type edition struct {
	blobs view.Blobs
	base  *view.View // nil for a new session
	doc   *domarkx.Document
	// messages holds the messages of the document if doc itself holds none.
	messages format.Messages
	date     int64 // of new and changed messages, in Unix seconds
	// derived derives the ids of new messages from the document, so that importing the same file
	// twice produces the same session. Otherwise new messages get fresh ids.
	derived bool
	newID   func(clock uint32) domarkx.ID

	keys    []domarkx.Key // of the header and messages of the base
	scanned []scanned     // the document's messages; nil before the first scan
	// origin is the tree of the foreign original if the document is one. An edit of the header
	// drops it, because an export could no longer return the original.
	origin   string
	original *original    // stored with the messages of a new session; nil for none
	linker   *linker      // links messages that name files that an import keeps; nil links none
	stated   *statedLinks // links messages with a workspace_version; nil links none

	moved  map[int]string  // by message: the version that it states, which is still in its metadata
	shared *sharedMessages // messages shared with other conversations of the document; nil for none
	made   struct {        // the message that was created last
		message int
		origin  string
	}

	newLinks  []string        // versions that the next snapshot links for the first time
	linkedNow map[string]bool // the same versions as a set

	attachments []domarkx.Attachment   // those that the base lacks
	files       []domarkx.AttachedFile // those that the base lacks; attachments holds their contents

	// verify, when not nil, reports whether the document has changed since it was read.
	verify func() error
}

// len returns the number of messages in the document.
func (e *edition) len() int {
	if e.messages != nil {
		return e.messages.Len()
	}
	return len(e.doc.Conversation)
}

// scanned holds the properties of a message that an alignment compares.
type scanned struct {
	key    domarkx.Key // see [layoutKey]
	digest domarkx.Key // of its bytes
	isUser bool
}

// scan fills e.scanned from all messages of the document. Later calls do nothing.
func (e *edition) scan() error {
	if e.scanned != nil {
		return nil
	}
	all := make([]scanned, e.len())
	restored, _ := e.messages.(*restored)
	for j := range all {
		if restored != nil && e.keys != nil {
			if k := restored.places[j].base; k >= 0 { // unchanged: no need to read it
				entry := e.base.Live.At(k)
				all[j] = scanned{e.keys[k+1], entry.Layout.Digest, entry.Role == domarkx.User}
				continue
			}
		}
		role, layout, err := e.outline(j)
		if err != nil {
			return err
		}
		all[j] = scanned{view.LayoutKey(layout), layout.Digest, role == domarkx.User}
	}
	e.scanned = all
	return nil
}

// at returns message j of the document.
func (e *edition) at(j int) (domarkx.WrittenMessage, error) {
	if e.messages == nil {
		return e.doc.Conversation[j], checkDepth(j, e.doc.Conversation[j].Message)
	}
	msg, err := e.messages.At(j)
	if err == nil {
		keepStated(&msg)
		err = checkDepth(j, msg.Message)
	}
	if err == nil {
		completeMessage(&msg)
	}
	return msg, err
}

// checkDepth rejects a message that is nested too deeply to be read again after it is stored.
func checkDepth(j int, m domarkx.Message) error {
	if m.Depth() <= domarkx.MaxMessageDepth {
		return nil
	}
	return fmt.Errorf("message %d: %w: its content is nested deeper than %d levels", j, domarkx.ErrInvalid, domarkx.MaxMessageDepth)
}

// checkHeaderDepth rejects a header that is nested too deeply to be read again.
func checkHeaderDepth(h domarkx.Header) error {
	if h.Value().Depth() <= domarkx.MaxDepth {
		return nil
	}
	return fmt.Errorf("front matter and configuration: %w: nested deeper than %d levels", domarkx.ErrInvalid, domarkx.MaxDepth)
}

// A successor is the next state of a session. The caller must iterate over live, exactly once,
// before it calls dead.
type successor struct {
	headers []domarkx.HeaderEntry
	live    iter.Seq2[domarkx.Entry, error]
	dead    func() []domarkx.Tombstone
	changed bool // whether the state differs from the base
}

// apply returns the next state, and whether it differs from the base.
func (e *edition) apply(ctx context.Context, objects *gitstore.Tx) (*domarkx.State, bool, error) {
	next, err := e.next(ctx, objects)
	if err != nil {
		return nil, false, err
	}
	state := &domarkx.State{Headers: next.headers}
	for entry, err := range next.live {
		if err != nil {
			return nil, false, err
		}
		state.Thread.Live = append(state.Thread.Live, entry)
	}
	state.Thread.Dead = next.dead()
	return state, next.changed, nil
}

// next prepares the next state.
func (e *edition) next(ctx context.Context, objects *gitstore.Tx) (successor, error) {
	if err := e.settleStated(ctx); err != nil {
		return successor{}, err
	}
	complete(e.doc)
	if e.base != nil {
		var err error
		if e.keys, err = e.base.Keys(ctx); err != nil {
			return successor{}, err
		}
	}
	next, err := e.thread(ctx)
	if err != nil {
		return successor{}, err
	}
	if err := checkHeaderDepth(e.doc.Header); err != nil {
		return successor{}, err
	}
	headers, changed, err := e.headers(ctx, objects)
	next.headers, next.changed = headers, next.changed || changed
	return next, err
}

// complete sets the canonical layout of all parts of a document that was not written in Markdown.
func complete(doc *domarkx.Document) {
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

// keepPreamble keeps the bytes of the preamble. It is called when the header will hold fields
// that the preamble does not state, which a canonical rendering would show.
func keepPreamble(doc *domarkx.Document) {
	if !doc.Preamble.Verbatim {
		doc.Preamble.Bytes = markdown.RenderHeader(doc.Header)
		doc.Preamble.Verbatim = true
	}
}

// headers returns the headers after the edit.
func (e *edition) headers(ctx context.Context, objects *gitstore.Tx) ([]domarkx.HeaderEntry, bool, error) {
	next := domarkx.HeaderEntry{Origin: e.origin}
	header := e.doc.Header
	var old []domarkx.HeaderEntry
	if hasOwn(header) && e.origin == "" && e.original == nil {
		keepPreamble(e.doc) // later snapshots keep its bytes, but not its snapshot_id
	}
	if e.base != nil {
		old = e.base.Headers
		was, err := e.base.Header(ctx)
		if err != nil {
			return nil, false, err
		}
		if !header.HasSourceFile && was.HasSourceFile {
			keepPreamble(e.doc)
			header.SourceFile, header.HasSourceFile = was.SourceFile, true
		}
		same := (next.Origin == "" || next.Origin == old[0].Origin) && e.keys[0] == view.LayoutKey(e.doc.Preamble.Layout) && sameIncludes(ctx, e.base, e.doc.Includes)
		if same && bytes.Equal(e.normal(header), e.normal(was)) {
			return e.unchanged(old, was), false, nil
		}
		if !e.derived {
			header.SnapshotID, header.ImportTimestamp = "", ""
		}
	}
	next.JSON, next.Layout = domarkx.Blob{Data: view.PrettyJSON(header.Value())}, e.doc.Preamble.Layout
	if next.Layout.Verbatim {
		next.Source = domarkx.Blob{Data: view.NotNil(e.doc.Preamble.Bytes)}
	}
	if len(e.doc.Includes) > 0 {
		var err error
		if next.Includes, err = objects.StoreIncludes(ctx, e.doc.Includes); err != nil {
			return nil, false, err
		}
	}
	return domarkx.ReviseHeader(old, next, view.NormalHeader(header)), true, nil
}

// unchanged returns the headers after an edit that did not change them. was is the decoded header
// as the base shows it.
func (e *edition) unchanged(old []domarkx.HeaderEntry, was domarkx.Header) []domarkx.HeaderEntry {
	if e.derived || len(old) > 1 || !hasOwn(was) {
		return old
	}
	entry := old[0]
	entry.Layout, entry.Source = e.doc.Preamble.Layout, domarkx.Blob{Data: view.NotNil(e.doc.Preamble.Bytes)}
	return []domarkx.HeaderEntry{withoutOwn(entry, was)}
}

// normal returns the form of a header that is compared to find changes. The snapshot_id and
// import_timestamp count only in imports, because no other edit can set them.
func (e *edition) normal(h domarkx.Header) []byte {
	if e.derived {
		return view.PrettyJSON(h.Value())
	}
	return view.NormalHeader(h)
}

func sameIncludes(ctx context.Context, base *view.View, files []domarkx.Include) bool {
	old, err := base.Includes(ctx)
	return err == nil && markdown.IncludesID(old) == markdown.IncludesID(files)
}
