package markdown_test

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"testing"

	"pgregory.net/rapid"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// TestMessageIsIdentity: every message object survives Markdown.
func TestMessageIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := message().Draw(t, "message")
		body := markdown.RenderMessage(m)
		read, err := markdown.ParseMessage(body)
		if err != nil {
			t.Fatalf("%v in\n%s", err, body)
		}
		if !read.Equal(m) {
			t.Fatalf("got  %s\nwant %s\nfrom\n%s", read.Value().JSON(), m.Value().JSON(), body)
		}
		if !bytes.HasSuffix(body, []byte("\n")) || bytes.HasSuffix(body, []byte("\n\n")) {
			t.Fatalf("ends with %q, want one line end", body[max(0, len(body)-3):])
		}
		if again, ok := markdown.RenderRecorded(m, sha256.Sum256(body)); !ok || !bytes.Equal(again, body) {
			t.Fatalf("rendered as recorded (%t)\n%s\nwant\n%s", ok, again, body)
		}
		checkBytes(t, body)
	})
}

// TestDocumentIsIdentity: JSON to Markdown to JSON is the identity.
func TestDocumentIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := &domarkx.Document{Header: header().Draw(t, "header")}
		for _, m := range rapid.SliceOfN(message(), 0, 3).Draw(t, "messages") {
			doc.Conversation = append(doc.Conversation, domarkx.WrittenMessage{Message: m})
		}
		text, err := markdown.Encode(doc)
		if err != nil {
			t.Fatal(err)
		}
		read, err := markdown.Decode(format.Source{Data: text})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if got, want := read.Header.Value(), doc.Header.Value(); !got.Equal(want) {
			t.Fatalf("got  %s\nwant %s\nfrom\n%s", got.JSON(), want.JSON(), text)
		}
		if len(read.Conversation) != len(doc.Conversation) {
			t.Fatalf("got %d messages, want %d, from\n%s", len(read.Conversation), len(doc.Conversation), text)
		}
		for i, m := range read.Conversation {
			if !m.Equal(doc.Conversation[i].Message) {
				t.Fatalf("message %d: got %s\nwant %s", i, m.Value().JSON(), doc.Conversation[i].Value().JSON())
			}
			if m.Verbatim {
				t.Fatalf("message %d is canonical, but its bytes are kept:\n%s", i, m.Bytes)
			}
		}
		if read.Preamble.Verbatim {
			t.Fatalf("the preamble is canonical, but its bytes are kept:\n%s", read.Preamble.Bytes)
		}
		checkBytes(t, text)
	})
}

// TestBytesAreKept: what decodes, encodes to the same bytes, and means the same in
// canonical form.
func TestBytesAreKept(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkBytes(t, []byte(document().Draw(t, "document"))) })
}

// TestPiecesMove: the pieces of documents mean the same in any other order, with
// others between them, and after a document that was left open.
func TestPiecesMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mixed := &domarkx.Document{Header: domarkx.NewHeader()}
		for i := range rapid.IntRange(1, 3).Draw(t, "documents") {
			doc, err := markdown.Decode(format.Source{Data: []byte(document().Draw(t, "document")), Include: included})
			if err != nil {
				continue
			}
			if i == 0 {
				mixed.Header, mixed.Preamble, mixed.Includes = doc.Header, doc.Preamble, doc.Includes
			}
			mixed.Conversation = append(mixed.Conversation, doc.Conversation...)
			mixed.Conversation = append(mixed.Conversation, markdown.WriteMessage(message().Draw(t, "message")))
		}
		mixed.Conversation = rapid.Permutation(mixed.Conversation).Draw(t, "order")
		drop := rapid.IntRange(0, len(mixed.Conversation)).Draw(t, "drop")
		mixed.Conversation = mixed.Conversation[drop:]

		text, err := markdown.Encode(mixed)
		if err != nil {
			t.Fatal(err)
		}
		read, err := markdown.Decode(format.Source{Data: text, Include: included})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if len(read.Conversation) != len(mixed.Conversation) {
			t.Fatalf("got %d messages, want %d, from\n%q", len(read.Conversation), len(mixed.Conversation), text)
		}
		for i, m := range read.Conversation {
			if want := mixed.Conversation[i].Message; !m.Equal(want) {
				t.Fatalf("message %d: got %s\nwant %s, from\n%q", i, m.Value().JSON(), want.Value().JSON(), text)
			}
		}
	})
}

func included(name string) ([]byte, error) {
	if name == "x" {
		return nil, fs.ErrNotExist
	}
	return []byte("included\n\n## assistant\n\nanswer\n\n## user\n> quoted\n"), nil
}

// checkBytes checks a document that decodes: the bytes come back, layouts tell the
// truth, and the canonical form means the same.
func checkBytes(t interface {
	Fatalf(format string, args ...any)
	Helper()
}, data []byte) {
	t.Helper()
	doc, err := markdown.Decode(format.Source{Data: data, Include: included})
	if err != nil {
		return
	}
	text, err := markdown.Encode(doc)
	if err != nil || !bytes.Equal(text, data) {
		t.Fatalf("encoded (%v)\n%q\nwant\n%q", err, text, data)
	}
	pieces := [][]byte{doc.Preamble.Bytes}
	layouts := []domarkx.Layout{doc.Preamble.Layout}
	if !doc.Preamble.Verbatim {
		pieces[0] = markdown.RenderHeader(doc.Header)
	}
	canonical := &domarkx.Document{Header: doc.Header}
	for _, m := range doc.Conversation {
		piece := m.Bytes
		if !m.Verbatim {
			piece = markdown.RenderMessage(m.Message)
		}
		if len(doc.Includes) == 0 {
			if alone, err := markdown.ParseMessage(piece); err != nil || !alone.Equal(m.Message) {
				t.Fatalf("alone: got %s, %v\nwant %s\nfrom\n%q", alone.Value().JSON(), err, m.Value().JSON(), piece)
			}
		}
		pieces, layouts = append(pieces, piece), append(layouts, m.Layout)
		canonical.Conversation = append(canonical.Conversation, domarkx.WrittenMessage{Message: m.Message})
	}
	for i, l := range layouts {
		if l.Size != int64(len(pieces[i])) || l.Digest != sha256.Sum256(pieces[i]) {
			t.Fatalf("piece %d: the layout is of %d bytes, the piece has %d", i, l.Size, len(pieces[i]))
		}
	}
	rendered, err := markdown.Encode(canonical)
	if err != nil {
		t.Fatalf("canonical form: %v", err)
	}
	again, err := markdown.Decode(format.Source{Data: rendered})
	if err != nil {
		t.Fatalf("canonical form: %v in\n%s", err, rendered)
	}
	if got, want := again.Header.Value(), doc.Header.Value(); !got.Equal(want) {
		t.Fatalf("canonical form: got header %s\nwant %s\nfrom\n%s", got.JSON(), want.JSON(), rendered)
	}
	if len(again.Conversation) != len(doc.Conversation) {
		t.Fatalf("canonical form: got %d messages, want %d", len(again.Conversation), len(doc.Conversation))
	}
	for i, m := range again.Conversation {
		if !m.Equal(doc.Conversation[i].Message) {
			t.Fatalf("canonical form: message %d: got %s\nwant %s", i, m.Value().JSON(), doc.Conversation[i].Value().JSON())
		}
	}
}

// TestIndentedHeadingMoves: a heading that was at top level although it is indented
// stays there behind a piece that ends in a list.
func TestIndentedHeadingMoves(t *testing.T) {
	doc := decode(t, "x\n\n  ## user\n\nhi\n\n## user\n- item\n")
	if got := string(doc.Preamble.Bytes); got != "x\n\n  " {
		t.Errorf("the preamble is %q", got)
	}
	if doc.Conversation[0].Verbatim {
		t.Errorf("the bytes %q are kept", doc.Conversation[0].Bytes)
	}
	doc.Conversation[0], doc.Conversation[1] = doc.Conversation[1], doc.Conversation[0]
	text, err := markdown.Encode(doc)
	if err != nil {
		t.Fatal(err)
	}
	if want := "x\n\n  ## user\n- item\n\n## user\n\nhi\n"; string(text) != want {
		t.Errorf("got %q, want %q", text, want)
	}
}
