package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/domarkx/domarkx/format/domarkx"
	"github.com/domarkx/domarkx/format/jsonvalue"
	"github.com/domarkx/domarkx/git-domarkx/engine/view"
)

// A Redactor replaces secrets in additions to redacted sessions.
type Redactor interface {
	// Document returns what redacts documents that are added to the session whose newest snapshot is tip; "" stands for a
	// new session. It is nil if the session was not redacted, unless always is set.
	Document(ctx context.Context, tip string, always bool) (Redaction, error)
	// Filter returns a function that replaces the secrets in texts and JSON to be added to the
	// session whose newest snapshot is tip. The function reports whether it changed the text. It is
	// nil if the session was not redacted.
	Filter(ctx context.Context, tip string) (func(ctx context.Context, text []byte) ([]byte, bool, error), error)
}

// A Redaction redacts additions to a session: a document, the files that it names, or a message. A secret that the
// session already has keeps its number. New secrets get the next numbers, in the order of the document.
type Redaction interface {
	// Bytes returns the content of a file without its secrets. It returns binary content unchanged.
	Bytes(content []byte) []byte
	// Copy writes a document of the given size in bytes to w, without its secrets.
	Copy(w io.Writer, document io.ReaderAt, size int64) error
	// Learn compares a document with stored, the redacted form of its beginning, and adopts the numbers of the secrets
	// that stored replaces. It stops where the two differ in anything else.
	Learn(stored, document []byte)
	// Remember stores the numbers of the secrets for later additions to the session whose newest snapshot is tip.
	Remember(ctx context.Context, tip string) error
	// Secrets returns the number of different secrets that were replaced.
	Secrets() int
}

// Redaction returns what redacts documents that are added to a session; see [Redactor].
func (m *SessionManager) Redaction(ctx context.Context, tip string, always bool) (Redaction, error) {
	if m.redactor == nil {
		return nil, nil
	}
	return m.redactor.Document(ctx, tip, always)
}

// Redacts sets the Redactor for additions to redacted sessions.
func (m *SessionManager) Redacts(r Redactor) { m.redactor = r }

// A Filter replaces the secrets in additions to a session. The zero value changes nothing.
type Filter struct {
	redact func(ctx context.Context, text []byte) ([]byte, bool, error)
}

// Filter returns the filter for additions to the session whose newest snapshot is tip; "" stands
// for a new session.
func (m *SessionManager) Filter(ctx context.Context, tip string) (Filter, error) {
	if m.redactor == nil || tip == "" {
		return Filter{}, nil
	}
	redact, err := m.redactor.Filter(ctx, tip)
	return Filter{redact}, err
}

// Reader returns a reader of r's content without secrets. It reads all of r into memory, unless the
// session was not redacted.
func (f Filter) Reader(ctx context.Context, r io.Reader) (io.Reader, error) {
	if f.redact == nil {
		return r, nil
	}
	data, err := io.ReadAll(r)
	if err != nil || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 { // Git's rule for binary files
		return bytes.NewReader(data), err
	}
	now, _, err := f.redact(ctx, data)
	return bytes.NewReader(now), err
}

// File returns the content of a file without secrets; nil if nothing changed.
func (f Filter) File(ctx context.Context, data []byte) ([]byte, error) {
	if f.redact == nil || bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 {
		return nil, nil
	}
	now, changed, err := f.redact(ctx, data)
	if !changed {
		return nil, err
	}
	return now, err
}

// String returns text without secrets.
func (f Filter) String(ctx context.Context, text string) (string, error) {
	if f.redact == nil {
		return text, nil
	}
	now, _, err := f.redact(ctx, []byte(text))
	return string(now), err
}

// Value returns v without secrets.
func (f Filter) Value(ctx context.Context, v jsonvalue.Value) (jsonvalue.Value, error) {
	if f.redact == nil {
		return v, nil
	}
	text, changed, err := f.redact(ctx, view.PrettyJSON(v))
	if err != nil || !changed {
		return v, err
	}
	now, err := jsonvalue.ParseValue(text)
	if err != nil {
		return v, fmt.Errorf("redacted value: %w", err)
	}
	return now, nil
}

// Message returns msg without secrets.
func (f Filter) Message(ctx context.Context, msg domarkx.Message) (domarkx.Message, error) {
	if f.redact == nil {
		return msg, nil
	}
	text, changed, err := f.redact(ctx, view.PrettyJSON(msg.Value()))
	if err != nil || !changed {
		return msg, err
	}
	v, err := jsonvalue.ParseValue(text)
	if err == nil {
		var now domarkx.Message
		if now, err = domarkx.ParseMessage(v, ""); err == nil {
			return now, nil
		}
	}
	return msg, fmt.Errorf("redacted message: %w", err)
}
