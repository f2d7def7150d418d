package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format/markdown"
)

// bytes returns a piece's own bytes in the document. It verifies them against the recorded
// digest.
func (v *view) bytes(ctx context.Context, i int) ([]byte, error) {
	form := v.placed[i].Form
	if made, ok := v.made[i]; ok && form != domarkx.Nothing {
		return made.bytes, nil
	}
	switch {
	case form == domarkx.Nothing:
		return nil, nil
	case form == domarkx.AsWritten && i == 0:
		return v.checked(ctx, i, v.headers[0].Source)
	case form == domarkx.AsWritten:
		return v.checked(ctx, i, v.live.At(i-1).Source)
	case i == 0:
		h, err := v.header(ctx)
		if err != nil {
			return nil, err
		}
		return v.verify(i, markdown.RenderHeader(h))
	}
	msg, err := v.message(ctx, i-1)
	if err != nil {
		return nil, err
	}
	data, ok := markdown.RenderRecorded(msg, v.layout(i).Digest)
	if !ok {
		return nil, v.damaged(i)
	}
	return data, nil
}

func (v *view) checked(ctx context.Context, i int, source domarkx.Blob) ([]byte, error) {
	data, err := read(ctx, v.blobs, source)
	if err != nil {
		return nil, err
	}
	return v.verify(i, data)
}

func (v *view) verify(i int, data []byte) ([]byte, error) {
	if sha256.Sum256(data) != v.layout(i).Digest {
		return nil, v.damaged(i)
	}
	return data, nil
}

// damaged returns the error for a piece that does not match its recorded digest.
func (v *view) damaged(i int) error {
	if i == 0 {
		return damagedPiece("preamble")
	}
	return damagedMessage(i-1, v.live.At(i-1).ID)
}

func damagedMessage(k int, id domarkx.ID) error {
	return damagedPiece(fmt.Sprintf("message %d (%s)", k, id))
}

func damagedPiece(what string) error {
	return fmt.Errorf("%s is %w: its bytes do not have the recorded SHA-256; run git domarkx fsck", what, domarkx.ErrCorrupt)
}

// write writes the document as Markdown.
func (v *view) write(ctx context.Context, w io.Writer) error {
	for i, p := range v.placed {
		data, err := v.bytes(ctx, i)
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

// reads reports whether the document consists of exactly these bytes. It returns false for a nil
// view.
func (v *view) reads(ctx context.Context, data []byte) (bool, error) {
	if v == nil || v.size() != int64(len(data)) {
		return false, nil
	}
	var b bytes.Buffer
	b.Grow(len(data))
	err := v.write(ctx, &b)
	return bytes.Equal(b.Bytes(), data), err
}
