package engine

import (
	"context"
	"io"

	"github.com/domarkx/domarkx"
	"github.com/domarkx/domarkx/format"
)

// Export writes a snapshot in a format. A session that was imported from that
// format and not changed since gives back the original bytes.
func (m *SessionManager) Export(ctx context.Context, r Revision, formatName string, w io.Writer) error {
	codec, err := m.codec(formatName)
	if err != nil {
		return err
	}
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return err
	}
	if r.Message < 0 {
		original, err := m.original(ctx, info, codec)
		if err != nil {
			return err
		}
		if original != nil {
			defer original.Close()
			_, err := io.Copy(w, original)
			return err
		}
	}
	return m.Show(ctx, r, Form(codec.Name), w)
}

// original returns the document that an unchanged session was imported from, or
// nil.
func (m *SessionManager) original(ctx context.Context, info domarkx.Info, codec format.Codec) (io.ReadCloser, error) {
	headers, err := m.store.Header(ctx, info.ID)
	if err != nil || len(headers) != 1 || headers[0].Origin == "" {
		return nil, err
	}
	origin, err := m.store.Origin(ctx, headers[0].Origin)
	if err != nil || origin.Format != codec.Name {
		return nil, err
	}
	now, err := m.store.Conversation(ctx, info.ID)
	if err != nil || now != origin.Conversation {
		return nil, err
	}
	return origin.Open()
}
