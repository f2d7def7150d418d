package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"

	"github.com/domarkx/domarkx"
)

// redact replaces the content of a document by the redacted one if its session was redacted.
func (imp *importer) redact(ctx context.Context, in *input, session string) error {
	if imp.manager.redactor == nil || in.replacer != nil {
		return nil
	}
	tip, err := imp.manager.store.Tip(ctx, session)
	if errors.Is(err, domarkx.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	data, err := in.data()
	if err != nil {
		return err
	}
	data, redacted, err := imp.manager.redactor.Document(ctx, tip.ID, data)
	if err != nil || !redacted {
		return err
	}
	in.content, in.size, in.redacted = bytes.NewReader(data), int64(len(data)), true
	in.digest = sha256.Sum256(data)
	return nil
}
