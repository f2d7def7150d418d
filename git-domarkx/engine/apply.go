package engine

import (
	"bytes"
	"context"
	"fmt"
	"iter"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/markdown"
)

// An edition makes the next state of a session out of a document.
type edition struct {
	blobs Blobs
	base  *view // nil for a new session
	doc   *domarkx.Document
	// messages are those of the document where it holds none itself.
	messages format.Messages
	date     int64 // of new and changed messages, in Unix seconds
	// derived makes the ids of new messages follow from the document, so that the
	// same file imported twice is the same session; else they are new to the world.
	derived bool
	newID   func(clock uint32) domarkx.ID

	keys    []domarkx.Key // of the base's pieces
	scanned []scanned     // the document's messages, once they were looked at
	// origin is the tree of the foreign original that the document is. An edit of
	// the header forgets the original: it could not be given back for it.
	origin   string
	original *original    // to be stored along with the messages of a new session; nil for none
	linker   *linker      // of messages that name what an import keeps; nil links none
	stated   *statedLinks // of messages with a workspace_version; nil links none

	moved  map[int]string  // by message: the version it states, which is in its metadata now
	shared *sharedMessages // with other conversations of the document; nil for none
	made   struct {        // which message was made last
		message int
		origin  string
	}

	newLinks  []string        // versions that the next snapshot links for the first time
	linkedNow map[string]bool // those

	attachments []domarkx.Attachment   // that the base has not
	files       []domarkx.AttachedFile // that the base has not, of which the contents are among the attachments

	// verify, when not nil, reports whether the document is still what was read of it.
	verify func() error
}

// len returns the number of messages of the document.
func (e *edition) len() int {
	if e.messages != nil {
		return e.messages.Len()
	}
	return len(e.doc.Conversation)
}

// scanned is what an alignment needs of a message.
type scanned struct {
	key    domarkx.Key // see [layoutKey]
	digest domarkx.Key // of its bytes
	isUser bool
}

// scan looks at all messages of the document, once.
func (e *edition) scan() error {
	if e.scanned != nil {
		return nil
	}
	all := make([]scanned, e.len())
	restored, _ := e.messages.(*restored)
	for j := range all {
		if restored != nil && e.keys != nil {
			if k := restored.places[j].base; k >= 0 { // it need not be read
				entry := e.base.live.At(k)
				all[j] = scanned{e.keys[k+1], entry.Layout.Digest, entry.Role == domarkx.User}
				continue
			}
		}
		role, layout, err := e.outline(j)
		if err != nil {
			return err
		}
		all[j] = scanned{layoutKey(layout), layout.Digest, role == domarkx.User}
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

// checkDepth refuses a message that could be stored and not be read again.
func checkDepth(j int, m domarkx.Message) error {
	if m.Depth() <= domarkx.MaxMessageDepth {
		return nil
	}
	return fmt.Errorf("message %d: %w: its content is nested deeper than %d levels", j, domarkx.ErrInvalid, domarkx.MaxMessageDepth)
}

// checkHeaderDepth refuses a header like that.
func checkHeaderDepth(h domarkx.Header) error {
	if h.Value().Depth() <= domarkx.MaxDepth {
		return nil
	}
	return fmt.Errorf("front matter and configuration: %w: nested deeper than %d levels", domarkx.ErrInvalid, domarkx.MaxDepth)
}

// A successor is the next state of a session. Its messages are made one after the other,
// once, and then the tombstones.
type successor struct {
	headers []domarkx.HeaderEntry
	live    iter.Seq2[domarkx.Entry, error]
	dead    func() []domarkx.Tombstone
	changed bool // it differs from the base
}

// apply returns the next state, and whether it differs from the base.
func (e *edition) apply(ctx context.Context, objects Objects) (*domarkx.State, bool, error) {
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

// next begins to make the next state.
func (e *edition) next(ctx context.Context, objects Objects) (successor, error) {
	if err := e.settleStated(ctx); err != nil {
		return successor{}, err
	}
	complete(e.doc)
	if e.base != nil {
		var err error
		if e.keys, err = e.base.keys(ctx); err != nil {
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

// complete gives the pieces of a document that was not written in Markdown their
// canonical layout.
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

// entryOf returns the entry for a message as it is in the document.
func entryOf(m domarkx.WrittenMessage, date int64) domarkx.Entry {
	space := make([]byte, 0, m.Layout.Size+m.Layout.Size/4+256) // so much it needs most often
	e := domarkx.Entry{Role: m.Role, Date: date, Layout: m.Layout, JSON: domarkx.Blob{Data: appendPretty(space, m.Message.Value())}}
	if m.Verbatim {
		e.Source = domarkx.Blob{Data: notNil(m.Bytes)}
	}
	return e
}

// prettyJSON is the one form in which JSON is stored.
func prettyJSON(v domarkx.Value) []byte { return appendPretty(nil, v) }

func appendPretty(dst []byte, v domarkx.Value) []byte {
	return append(v.AppendJSON(dst, "", "  "), '\n')
}

func notNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// keepPreamble keeps the preamble's bytes, for the header is to hold what they do
// not say: the canonical rendering would show it.
func keepPreamble(doc *domarkx.Document) {
	if !doc.Preamble.Verbatim {
		doc.Preamble.Bytes = markdown.RenderHeader(doc.Header)
		doc.Preamble.Verbatim = true
	}
}

// headers returns the headers after the edit.
func (e *edition) headers(ctx context.Context, objects Objects) ([]domarkx.HeaderEntry, bool, error) {
	next := domarkx.HeaderEntry{Origin: e.origin}
	header := e.doc.Header
	var old []domarkx.HeaderEntry
	if hasOwn(header) && e.origin == "" && e.original == nil {
		keepPreamble(e.doc) // later snapshots have its bytes, but not its snapshot_id
	}
	if e.base != nil {
		old = e.base.headers
		was, err := e.base.header(ctx)
		if err != nil {
			return nil, false, err
		}
		if !header.HasSourceFile && was.HasSourceFile {
			keepPreamble(e.doc)
			header.SourceFile, header.HasSourceFile = was.SourceFile, true
		}
		same := (next.Origin == "" || next.Origin == old[0].Origin) && e.keys[0] == layoutKey(e.doc.Preamble.Layout) && sameIncludes(ctx, e.base, e.doc.Includes)
		if same && bytes.Equal(e.normal(header), e.normal(was)) {
			return e.unchanged(old, was), false, nil
		}
		if !e.derived {
			header.SnapshotID, header.ImportTimestamp = "", ""
		}
	}
	next.JSON, next.Layout = domarkx.Blob{Data: prettyJSON(header.Value())}, e.doc.Preamble.Layout
	if next.Layout.Verbatim {
		next.Source = domarkx.Blob{Data: notNil(e.doc.Preamble.Bytes)}
	}
	if len(e.doc.Includes) > 0 {
		var err error
		if next.Includes, err = objects.StoreIncludes(ctx, e.doc.Includes); err != nil {
			return nil, false, err
		}
	}
	return domarkx.ReviseHeader(old, next, normalHeader(header)), true, nil
}

// unchanged returns the headers that an edition left as they were: was, as shown.
func (e *edition) unchanged(old []domarkx.HeaderEntry, was domarkx.Header) []domarkx.HeaderEntry {
	if e.derived || len(old) > 1 || !hasOwn(was) {
		return old
	}
	entry := old[0]
	entry.Layout, entry.Source = e.doc.Preamble.Layout, domarkx.Blob{Data: notNil(e.doc.Preamble.Bytes)}
	return []domarkx.HeaderEntry{withoutOwn(entry, was)}
}

// normal is what must change of a header for the edition to change it: only an
// import brings a snapshot_id and an import_timestamp.
func (e *edition) normal(h domarkx.Header) []byte {
	if e.derived {
		return prettyJSON(h.Value())
	}
	return normalHeader(h)
}

// normalHeader is a header without what belongs to one snapshot alone.
func normalHeader(h domarkx.Header) []byte {
	h.SnapshotID, h.ImportTimestamp = "", ""
	return prettyJSON(h.Value())
}

func sameIncludes(ctx context.Context, base *view, files []domarkx.Include) bool {
	old, err := base.includes(ctx)
	return err == nil && markdown.IncludesID(old) == markdown.IncludesID(files)
}
