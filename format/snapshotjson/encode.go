package snapshotjson

import (
	"bytes"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
)

const indent = "  "

// Encode writes a document as [Writer] does. A header without snapshot_id or
// import_timestamp is [domarkx.ErrInvalid].
func Encode(doc *domarkx.Document) ([]byte, error) {
	var b bytes.Buffer
	w, err := NewWriter(&b, doc.Header)
	if err != nil {
		return nil, err
	}
	for _, m := range doc.Conversation {
		if err := w.WriteMessage(m.Message); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// A Writer writes a snapshot document piece by piece: JSON indented by two spaces,
// its members in the order of the specification, unknown ones of the document
// after the conversation, and a final newline.
type Writer struct {
	w        io.Writer
	buf      []byte
	messages int
	extra    []jsonvalue.Member // unknown members of the document
}

// NewWriter begins a document. A header without snapshot_id or import_timestamp,
// which are required, is [domarkx.ErrInvalid].
func NewWriter(w io.Writer, h domarkx.Header) (*Writer, error) {
	if h.SnapshotID == "" || h.ImportTimestamp == "" {
		return nil, fmt.Errorf("writing a snapshot: %w: it needs a snapshot_id and an import_timestamp", domarkx.ErrInvalid)
	}
	extra := h.Extra
	h.Extra = nil
	header := h.Value().AppendJSON(nil, "", indent)
	header = append(bytes.TrimSuffix(header, []byte("\n}")), ",\n"+indent+`"conversation": [`...)
	out := &Writer{w: w, buf: header, extra: extra}
	return out, out.flush()
}

// WriteMessage adds a message.
func (w *Writer) WriteMessage(m domarkx.Message) error {
	if w.messages++; w.messages > 1 {
		w.buf = append(w.buf, ',')
	}
	w.buf = append(append(append(w.buf, '\n'), indent...), indent...)
	w.buf = m.Value().AppendJSON(w.buf, indent+indent, indent)
	return w.flush()
}

// Close ends the document. It does not close the underlying writer.
func (w *Writer) Close() error {
	if w.messages > 0 {
		w.buf = append(append(w.buf, '\n'), indent...)
	}
	w.buf = append(w.buf, ']')
	for _, m := range w.extra {
		w.buf = append(append(w.buf, ",\n"+indent...), jsonvalue.StringValue(m.Name).JSON()+": "...)
		w.buf = m.Value.AppendJSON(w.buf, indent, indent)
	}
	w.buf = append(w.buf, "\n}\n"...)
	return w.flush()
}

func (w *Writer) flush() error {
	_, err := w.w.Write(w.buf)
	w.buf = w.buf[:0]
	if err != nil {
		return fmt.Errorf("writing a snapshot: %w", err)
	}
	return nil
}
