package view

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format"
	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/format/markdown"
)

// Bytes returns a piece's own bytes in the document. It verifies them against the recorded digest.
// The error matches [domarkx.ErrCorrupt] if they differ from it.
func (v *View) Bytes(ctx context.Context, i int) (data []byte, err error) {
	form := v.Placed[i].Form
	if made, ok := v.made[i]; ok && form != domarkx.Nothing {
		return made.bytes, nil
	}
	digest, isRecorded := v.Layout(i).Digest, false
	switch {
	case form == domarkx.Nothing:
		return nil, nil
	case form == domarkx.AsWritten && i == 0:
		data, err = Read(ctx, v.Blobs, v.Headers[0].Source)
	case form == domarkx.AsWritten:
		data, err = Read(ctx, v.Blobs, v.Live.At(i-1).Source)
	case i == 0:
		var h domarkx.Header
		if h, err = v.Header(ctx); err == nil {
			data = markdown.RenderHeader(h)
		}
	default:
		var msg domarkx.Message
		if msg, err = v.Message(ctx, i-1); err == nil {
			data, isRecorded = markdown.RenderRecorded(msg, digest)
		}
	}
	if err != nil {
		return nil, err
	}
	if !isRecorded && sha256.Sum256(data) != digest {
		return nil, v.damaged(i)
	}
	return data, nil
}

// damaged returns the error for a piece that does not match its recorded digest.
func (v *View) damaged(i int) error {
	if i == 0 {
		return damagedPiece("preamble")
	}
	return DamagedMessage(i-1, v.Live.At(i-1).ID)
}

// DamagedMessage returns the error for message k, whose bytes are not those that were recorded. It matches [domarkx.ErrCorrupt].
func DamagedMessage(k int, id domarkx.ID) error {
	return damagedPiece(fmt.Sprintf("message %d (%s)", k, id))
}

func damagedPiece(what string) error {
	return fmt.Errorf("%s is %w: its bytes do not have the recorded SHA-256; run git domarkx fsck", what, domarkx.ErrCorrupt)
}

// Write writes the document as Markdown. The error matches [domarkx.ErrCorrupt] if a piece is damaged.
func (v *View) Write(ctx context.Context, w io.Writer) error {
	for i, p := range v.Placed {
		data, err := v.Bytes(ctx, i)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, p.Separator); err != nil {
			return err
		}
		if _, err := w.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// Reads reports whether the document consists of exactly these bytes. It returns false for a nil view.
func (v *View) Reads(ctx context.Context, data []byte) (bool, error) {
	if v == nil || v.Size() != int64(len(data)) {
		return false, nil
	}
	var b bytes.Buffer
	b.Grow(len(data))
	err := v.Write(ctx, &b)
	return bytes.Equal(b.Bytes(), data), err
}

// Written returns message k as it is shown, with the bytes that its author wrote.
func (v *View) Written(ctx context.Context, k int) (domarkx.WrittenMessage, error) {
	msg, err := v.Message(ctx, k)
	if err != nil {
		return domarkx.WrittenMessage{}, err
	}
	m := domarkx.WrittenMessage{Message: msg}
	if l := *v.Layout(k + 1); l.Span == 0 && l.Within == 0 {
		m.Layout = l
	}
	if m.Layout.Verbatim {
		m.Bytes, err = v.Bytes(ctx, k+1)
	}
	return m, err
}

// Says reports whether the document contains this workspace-config.
func (v *View) Says(ctx context.Context, workspace jsonvalue.Value) (bool, error) {
	var b bytes.Buffer
	if err := v.Write(ctx, &b); err != nil {
		return false, err
	}
	files, err := v.Includes(ctx)
	if err != nil {
		return false, err
	}
	doc, err := markdown.Decode(format.Source{Data: b.Bytes(), Include: StoredInclude(files)})
	if err != nil {
		return false, nil // add the block: a removed message may have contained it
	}
	now, ok := doc.Header.ExecutionConfig.Get("workspace")
	return ok && now.Equal(workspace), nil
}

// PrettyJSON returns the only form in which JSON is stored.
func PrettyJSON(v jsonvalue.Value) []byte { return AppendPretty(nil, v) }

// AppendPretty appends what PrettyJSON returns.
func AppendPretty(dst []byte, v jsonvalue.Value) []byte {
	return append(v.AppendJSON(dst, "", "  "), '\n')
}

// NotNil returns data, or an empty slice if data is nil, for contents that exist but are empty.
func NotNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

// NormalHeader encodes a header without the fields that belong to a single snapshot.
func NormalHeader(h domarkx.Header) []byte {
	h.SnapshotID, h.ImportTimestamp = "", ""
	return PrettyJSON(h.Value())
}

// HasOwnFields reports whether a header contains fields that belong to a single snapshot.
func HasOwnFields(h domarkx.Header) bool { return h.SnapshotID != "" || h.ImportTimestamp != "" }

// WithoutOwnFields returns a header entry without the fields that belong to a single snapshot. A
// preamble that the author wrote verbatim keeps its text.
func WithoutOwnFields(entry domarkx.HeaderEntry, h domarkx.Header) domarkx.HeaderEntry {
	h.SnapshotID, h.ImportTimestamp = "", ""
	entry.JSON = domarkx.Blob{Data: PrettyJSON(h.Value())}
	if !entry.Layout.Verbatim {
		entry.Layout, entry.Source = markdown.WriteHeader(h).Layout, domarkx.Blob{}
	}
	return entry
}
