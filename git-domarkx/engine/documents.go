package engine

import (
	"bufio"
	"bytes"
	"context"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/toolcall"
)

// Document returns a snapshot as a document together with its Info.
func (m *SessionManager) Document(ctx context.Context, r Revision) (*domarkx.Document, domarkx.Info, error) {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return nil, domarkx.Info{}, err
	}
	doc, err := m.document(ctx, info)
	return doc, info, err
}

// Attachment opens an attachment of a snapshot by its SHA-256 in hexadecimal. The error matches
// domarkx.ErrNotFound if the snapshot has no such attachment.
func (m *SessionManager) Attachment(ctx context.Context, snapshot, sha256 string) (domarkx.Content, error) {
	return m.store.Attachment(ctx, snapshot, sha256)
}

// MadeElsewhere returns a function that reports whether a call of a message was made by another
// program and not here. link is the message's workspace version. If an import created that version,
// calls of resources that it lacks were made elsewhere.
func (m *SessionManager) MadeElsewhere(ctx context.Context, link string) (func(call domarkx.Block) bool, error) {
	here := func(domarkx.Block) bool { return false }
	if link == "" {
		return here, nil
	}
	v, err := m.store.VersionOrStub(ctx, link)
	if err != nil || v.Operation != "import" {
		return here, err
	}
	return func(call domarkx.Block) bool {
		asked, err := toolcall.Parse(call.Text)
		return err == nil && call.Language == toolcall.Language && ResourceVersion(v.Resources, asked.Resource) == ""
	}, nil
}

// snapshotDocument writes the JSON object of the specification, one message at a time. Unknown
// members of the header follow the conversation.
func snapshotDocument(w *bufio.Writer, header domarkx.Header, n int, message func(k int) error) error {
	extra := header.Extra
	header.Extra = nil
	head := header.Value().AppendJSON(nil, "", "  ")
	w.Write(bytes.TrimSuffix(head, []byte("\n}")))
	w.WriteString(",\n  \"conversation\": [")
	for k := range n {
		if k > 0 {
			w.WriteByte(',')
		}
		w.WriteString("\n    ")
		if err := message(k); err != nil {
			return err
		}
	}
	if n > 0 {
		w.WriteString("\n  ")
	}
	w.WriteByte(']')
	for _, m := range extra {
		w.WriteString(",\n  " + jsonvalue.StringValue(m.Name).JSON() + ": ")
		w.Write(m.Value.AppendJSON(nil, "  ", "  "))
	}
	_, err := w.WriteString("\n}\n")
	return err
}

// conversationJSON returns a message as JSON, indented as in the document.
func conversationJSON(msg domarkx.Message) []byte { return msg.Value().AppendJSON(nil, "    ", "  ") }
