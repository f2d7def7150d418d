package importer

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/transaction"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// filterOf returns the filter for a conversation: that of its document, if its document is redacted already, and otherwise that
// of its session. This is known only after the header was read, because that determines the session.
func (imp *importer) filterOf(ctx context.Context, r recognised) (transaction.Filter, error) {
	switch {
	case r.in.IsRedacted():
		return r.in.Filter, nil
	case imp.Redact || r.in.always:
		return imp.tx.FilterAlways(ctx, r.name)
	}
	return imp.tx.Filter(ctx, r.name)
}

// readableTip returns the newest snapshot of a session that can be read, which those of this update cannot; "" if there is none.
// No update redacts a session that it imports.
func (s *sessions) readableTip(name string) string {
	if tip := s.here[name].ID; !s.fresh[tip] {
		return tip
	}
	return s.before[name]
}

// redact replaces the content of a document by a temporary file without its secrets.
func (imp *importer) redact(ctx context.Context, d *reader, r recognised) error {
	in := &d.in
	if imp.fresh[r.base] {
		r.base = imp.readableTip(r.name)
	}
	err := imp.learn(ctx, in, r)
	if err == nil {
		err = in.Redact(ctx, r.filter)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", in.path, local.PathError(err))
	}
	return nil
}

// learn finds out for which secrets the placeholders in a session stand, by comparing the document with its redacted
// form that was imported before.
func (imp *importer) learn(ctx context.Context, in *input, r recognised) error {
	if r.base == "" {
		return nil
	}
	const most = 64 << 20
	stored, err := imp.storedDocument(ctx, in, r.base, most)
	if err != nil || len(stored) == 0 {
		return err
	}
	document, err := in.Data(most)
	if err == nil {
		r.filter.Redaction().Learn(stored, document)
	}
	return err
}

// storedDocument returns the document from which a snapshot was imported, but only its first most bytes. It returns nil
// if the snapshot does not have it.
func (imp *importer) storedDocument(ctx context.Context, in *input, snapshot string, most int64) ([]byte, error) {
	origin, _, err := imp.manager.sessions.OriginOf(ctx, snapshot, in.codec)
	if err != nil {
		return nil, err
	}
	if origin != nil {
		content, err := origin.Open()
		if err != nil {
			return nil, err
		}
		defer content.Close()
		return io.ReadAll(io.LimitReader(content, most))
	}
	if in.codec.Name != string(engine.Markdown) {
		return nil, nil
	}
	v, err := view.Load(ctx, imp.manager.store, snapshot)
	if err != nil || v.Size() > most {
		return nil, err
	}
	var b bytes.Buffer
	err = v.Write(ctx, &b)
	return b.Bytes(), err
}
