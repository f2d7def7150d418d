package engine

import (
	"context"
	"io"
)

// WriteAttachment writes an attachment of a snapshot to w: the full output that a message holds
// only the beginning of. The attachment is identified by its SHA-256 in hexadecimal.
func (m *SessionManager) WriteAttachment(ctx context.Context, r Revision, sha256 string, w io.Writer) error {
	info, err := m.Resolve(ctx, r)
	if err != nil {
		return err
	}
	c, err := m.store.Attachment(ctx, info.ID, sha256)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = io.Copy(w, io.NewSectionReader(c, 0, c.Size()))
	return err
}
