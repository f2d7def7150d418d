package importer

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/domarkx/domarkx/git-domarkx/engine"
	"github.com/domarkx/domarkx/git-domarkx/engine/local"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A redactError is the error for a document whose secrets must be replaced before anything of it is stored. This is
// known only after its header was read, because that determines the session.
type redactError struct {
	session, base string
	with          engine.Redaction
}

func (e *redactError) Error() string { return "session " + e.session + ": its documents are redacted" }

// mustRedact returns a *redactError if the documents of a session are redacted and this input is not redacted yet.
func (imp *importer) mustRedact(ctx context.Context, in input, c engine.Change) error {
	if in.redaction != nil {
		return nil
	}
	tip := imp.here[c.Name].ID
	if imp.fresh[tip] { // a snapshot of this update cannot be read, and no update redacts a session that it imports
		tip = imp.before[c.Name]
	}
	with := imp.redactions[c.Name]
	if with == nil {
		var err error
		if with, err = imp.manager.sessions.Redaction(ctx, tip, imp.always || in.always); err != nil || with == nil {
			return err
		}
		imp.redactions[c.Name] = with
	}
	if imp.fresh[c.Base] {
		c.Base = tip
	}
	return &redactError{c.Name, c.Base, with}
}

// redact replaces the content of an input by a temporary file without its secrets.
func (imp *importer) redact(ctx context.Context, in *input, r *redactError) error {
	if err := imp.learn(ctx, in, r); err != nil {
		return err
	}
	file, err := os.CreateTemp("", "git-domarkx-*")
	if err != nil {
		return err
	}
	in.clean = file
	digest, print := sha256.New(), newFingerprint()
	if err := r.with.Copy(io.MultiWriter(file, digest, print), in.ReaderAt, in.size); err != nil {
		return err
	}
	raw := *in.content
	in.raw, in.ReaderAt, in.print, in.redaction = &raw, file, print, r.with
	digest.Sum(in.digest[:0])
	in.size, err = file.Seek(0, io.SeekEnd)
	return err
}

// learn finds out for which secrets the placeholders in a session stand, by comparing the document with its redacted
// form that was imported before.
func (imp *importer) learn(ctx context.Context, in *input, r *redactError) error {
	if r.base == "" {
		return nil
	}
	const most = 64 << 20
	stored, err := imp.storedDocument(ctx, in, r.base, most)
	if err != nil || len(stored) == 0 {
		return err
	}
	document := make([]byte, min(in.size, most))
	if n, err := in.ReadAt(document, 0); n < len(document) {
		if err == io.EOF {
			err = errChanged
		}
		return err
	}
	r.with.Learn(stored, document)
	return nil
}

// storedDocument returns the document from which a snapshot was imported, but only its first most bytes. It returns nil
// if the snapshot does not have it.
func (imp *importer) storedDocument(ctx context.Context, in *input, snapshot string, most int64) ([]byte, error) {
	headers, err := imp.manager.store.Header(ctx, snapshot)
	if err != nil {
		return nil, err
	}
	if len(headers) > 0 && headers[0].Origin != "" {
		origin, err := imp.manager.store.Origin(ctx, headers[0].Origin)
		if err != nil || origin.Format != in.codec.Name {
			return nil, err
		}
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

// again imports a document after its secrets were replaced.
func (imp *importer) again(ctx context.Context, in *input, r *redactError) (engine.SaveResult, error) {
	before := r.with.Secrets()
	if err := imp.redact(ctx, in, r); err != nil {
		return engine.SaveResult{}, fmt.Errorf("%s: %w", in.path, local.PathError(err))
	}
	saved, err := imp.document(ctx, *in)
	imp.result.Redacted += r.with.Secrets() - before
	return saved, err
}

// rememberSecrets records the numbers of the replaced secrets. It is called after the update, when the sessions can be
// read.
func (imp *importer) rememberSecrets(ctx context.Context) error {
	var errs []error
	for session, with := range imp.redactions {
		errs = append(errs, with.Remember(ctx, imp.here[session].ID))
	}
	return errors.Join(errs...)
}

// withoutSecrets returns the content of a file of the document, without its secrets if the document is redacted.
func (in *content) withoutSecrets(content []byte) []byte {
	if in.redaction == nil {
		return content
	}
	return in.redaction.Bytes(content)
}
